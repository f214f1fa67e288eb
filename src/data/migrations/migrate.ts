import { sql, type Transaction } from 'kysely';
import { DatabaseUnusable } from '../database.ts';
import type { Tables } from '../tables.ts';
import { initial } from './0001-initial.ts';
import { eventMarks } from './0002-event-marks.ts';
import { headTimes } from './0003-head-times.ts';
import { activeApiKeys } from './0004-active-api-keys.ts';
import { signInAttempts } from './0005-sign-in-attempts.ts';
import { deletions } from './0006-deletions.ts';
import { mutes } from './0007-mutes.ts';
import { idempotencyKeys } from './0008-idempotency-keys.ts';
import { memberships } from './0009-memberships.ts';
import { joins } from './0010-joins.ts';
import { publicRooms } from './0011-public-rooms.ts';
import type { Migration, TableDialect } from './migration.ts';

/** All migrations in order. */
const migrations: readonly Migration[] = [
  { migrate: initial, keepsPrograms: false },
  { migrate: eventMarks, keepsPrograms: false },
  { migrate: headTimes, keepsPrograms: false },
  { migrate: activeApiKeys, keepsPrograms: true },
  { migrate: signInAttempts, keepsPrograms: true },
  { migrate: deletions, keepsPrograms: true },
  { migrate: mutes, keepsPrograms: true },
  { migrate: idempotencyKeys, keepsPrograms: true },
  { migrate: memberships, keepsPrograms: true },
  { migrate: joins, keepsPrograms: true },
  { migrate: publicRooms, keepsPrograms: true },
];

/** The number of migrations that this program knows. */
export const latestVersion = migrations.length;

/** The row of the table `migrations`. */
export interface TableVersion {
  /** The number of migrations that have run. */
  seen: number;
  /**
   * The number of migrations that a program must know to work with the tables. A database that was last migrated by an
   * early version of Postroom has no such column.
   */
  needed?: number | null;
}

/**
 * Runs all missing migrations. No other program may migrate during the transaction. Tables that a newer program has
 * migrated stay as they are. @throws DatabaseUnusable if this program is too old for them.
 */
export async function migrate(
  db: Transaction<Tables>,
  dialect: TableDialect,
  all: readonly Migration[] = migrations,
): Promise<void> {
  const version = await readVersion(db);
  assertKnown(version, all.length);
  const { seen } = version;
  if (seen >= all.length) return;
  for (const { migrate } of all.slice(seen)) await migrate(db, dialect);
  await writeVersion(db, { seen: all.length, needed: all.findLastIndex(({ keepsPrograms }) => !keepsPrograms) + 1 });
}

/** @throws DatabaseUnusable if a program that knows `known` migrations is too old for the tables. */
export function assertKnown({ seen, needed }: TableVersion, known = latestVersion): void {
  const leastNeeded = needed ?? seen;
  if (leastNeeded <= known) return;
  throw new DatabaseUnusable(
    `it was written by a newer Postroom (its tables need a program that knows version ${leastNeeded}, this program knows ${known})`,
  );
}

async function readVersion(db: Transaction<Tables>): Promise<TableVersion> {
  await sql`create table if not exists migrations (seen integer not null, needed integer)`.execute(db);
  const { rows } = await sql<TableVersion>`select * from migrations`.execute(db);
  return rows[0] ?? { seen: 0 };
}

/** Creates the table again, because that of an early version has no column `needed`. */
async function writeVersion(db: Transaction<Tables>, { seen, needed }: TableVersion): Promise<void> {
  await sql`drop table migrations`.execute(db);
  await sql`create table migrations (seen integer not null, needed integer)`.execute(db);
  await sql`insert into migrations (seen, needed) values (${seen}, ${needed})`.execute(db);
}
