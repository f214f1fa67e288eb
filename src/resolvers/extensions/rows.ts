import { type SelectQueryBuilder, sql } from 'kysely';
import type { ChangeRecord } from '../../changes/commit-change.ts';
import { withinTime } from '../../common/within-time.ts';
import type { Db } from '../../data/database/database.ts';
import type { BatchRead } from '../../data/domain/loaders.ts';
import type { NewPlainEvent, NewRoomEvent } from '../../data/event-log/events.ts';
import {
  type Connection,
  type ConnectionArguments,
  createConnectionFinder,
  type Edge,
  encodeKey,
} from '../../data/lists/pages.ts';
import type { Tables } from '../../data/tables.ts';
import { ClientError } from '../../errors.ts';
import type { Viewer } from '../../identity/viewer.ts';
import type { Context } from '../context.ts';
import { changeInRoom, changePostAsViewer } from '../rules/changes.ts';
import { findVisibleNode, type PostAccess, type RoomAccess } from '../rules/visible-rows.ts';
import type { ExtensionRow } from './extensions.ts';

/** A value of one key, read together with those of other keys in the same operation. `read` is one function for all calls. */
export function load<Value>(context: Context, read: BatchRead<Value>, key: string): Promise<Value | undefined> {
  return context.loaders.by(read, key);
}

/** The id of a new row. A mutation that is repeated with its key finds the row of its payload by it. */
export function newId({ idempotency, services: { extensions } }: Context, type: string): string {
  const isOfPayload = idempotency && extensions.ofId(idempotency.resultId)?.type === type;
  return isOfPayload ? idempotency.resultId : extensions.createId(type);
}

const maxWorkMs = 5_000;

type Work<T, Access> = (db: Db, record: ChangeRecord, viewer: Viewer, found: Access) => Promise<T>;

/**
 * Like `changeInRoom`, and waits for all statements before the commit. Those of Postroom are sent together with it; after it
 * PostgreSQL would refuse a second statement that waits for the first one, and half of the change would be stored.
 */
export function changeRowsInRoom<T>(context: Context, { id }: { id: string }, work: Work<T, RoomAccess>): Promise<T> {
  return changeInRoom(context, { id, sharesCommit: false }, settled(context, work));
}

/** The same for a change of a post, or of rows that belong to it: the post is locked after its room. */
export function changePostRows<T>(context: Context, id: string, work: Work<T, PostAccess>): Promise<T> {
  return changePostAsViewer(context, id, settled(context, work));
}

function settled<T, Access>({ services }: Context, work: Work<T, Access>): Work<T, Access> {
  const run: Work<T, Access> = async (db, record, viewer, found) => {
    const append = <Row>(event: NewRoomEvent<Row>) => {
      const { type } = event;
      if (!Object.hasOwn(services.extensions.events, type)) throw new Error(`No extension has an event ${type}.`);
      return record.append(event as NewPlainEvent<Row>);
    };
    const result = await work(db, { ...record, append: append as ChangeRecord['append'] }, viewer, found);
    await record.settle();
    return result;
  };
  // Work may wait for what never comes, and others wait for its locks; those of SQLite are all other writes.
  return (...args) =>
    withinTime(maxWorkMs, run(...args), () => {
      throw new ClientError('SERVICE_UNAVAILABLE');
    });
}

/**
 * Like `changeRowsInRoom`, for a change of a row, which is locked after its room. @throws ClientError NOT_FOUND if there is no such
 * row, or its room is not visible to the viewer.
 */
export async function changeNode<Row extends ExtensionRow, T>(
  context: Context,
  [type, id]: readonly [type: string, id: string],
  work: Work<T, RoomAccess & { row: Row }>,
): Promise<T> {
  const node = context.services.extensions.ofType(type);
  const isOfType = context.services.extensions.ofId(id) === node;
  const found = isOfType ? await findVisibleNode(id, context) : undefined;
  if (!found) throw noSuchRow(type);
  const { roomId } = found as ExtensionRow;
  return changeRowsInRoom(context, { id: roomId }, async (db, record, viewer, access) => {
    const row = await db
      .selectFrom(node.table as 'posts')
      .selectAll()
      .where('id', '=', id)
      // It may have moved since, to a room that is not visible to the viewer.
      .where('roomId', '=', roomId)
      .forUpdate()
      .executeTakeFirst();
    if (!row) throw noSuchRow(type);
    return work(db, record, viewer, { ...access, row: row as ExtensionRow as Row });
  });
}

function noSuchRow(type: string): ClientError {
  return new ClientError('NOT_FOUND', `There is no such ${type.toLowerCase()}.`);
}

/** Stores a new row, and resolves with it. */
export async function insertRow<Row extends ExtensionRow>(db: Db, table: string, row: Row): Promise<Row> {
  await db
    .insertInto(table as 'posts')
    .values(row as never)
    .execute();
  return row;
}

/** Stores the columns of a row that is there, and resolves with them. */
export async function updateRow<Row extends ExtensionRow>(db: Db, table: string, row: Row): Promise<Row> {
  await db
    .updateTable(table as 'posts')
    .set(row as never)
    .where('id', '=', row.id)
    .execute();
  return row;
}

/**
 * A function that creates connections of the rows of a table whose column `of` has a value, in the order of the column `time`, in
 * milliseconds since 1970, and the id. The table needs an index of these three columns.
 */
export function connectionOf<Row extends ExtensionRow>(
  table: string,
  { of, time = 'createdAt' }: { of: string; time?: string },
): (context: Context, value: string, args: ConnectionArguments) => Connection<Edge<Row>> {
  const find = createConnectionFinder(
    [time, 'id'],
    (db, { value }: { value: string }) =>
      db
        .selectFrom(table as keyof Tables)
        .selectAll()
        .where(sql<boolean>`${sql.ref(of)} = ${value}`) as SelectQueryBuilder<Tables, keyof Tables, Row>,
    (node) => ({ cursor: encodeKey([Number(node[time as keyof Row]), node.id]), node }),
  );
  return ({ db }, value, args) => find(db, { value }, args);
}
