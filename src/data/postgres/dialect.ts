import {
  AndNode,
  BinaryOperationNode,
  type OperationNode,
  OperatorNode,
  PostgresAdapter,
  PostgresQueryCompiler,
  type SelectQueryNode,
  sql,
  WhereNode,
} from 'kysely';
import type { TableDialect } from '../migrations/migration.ts';
import type { SqlDialect } from '../sql/sql-dialect.ts';

const advisoryLocks = {
  ForKeyShare: sql`pg_advisory_xact_lock_shared(hashtextextended("id", 0)) is not null`.toOperationNode(),
  ForUpdate: sql`pg_advisory_xact_lock(hashtextextended("id", 0)) is not null`.toOperationNode(),
};

/**
 * Takes an advisory lock of a row's id before a lock of the row. A transaction that waits for an exclusive lock of a row
 * is overtaken by all that share it: with eight writers in a room, the room could not be changed within ten seconds.
 * Advisory locks are granted in order.
 */
class QueryCompilerWithFairLocks extends PostgresQueryCompiler {
  protected override visitSelectQuery(node: SelectQueryNode): void {
    const modifier = node.endModifiers?.[0]?.modifier;
    const lock = modifier === 'ForKeyShare' || modifier === 'ForUpdate' ? advisoryLocks[modifier] : undefined;
    if (!lock || !node.where || !findsOneRow(node.where.where)) return super.visitSelectQuery(node);
    super.visitSelectQuery({ ...node, where: WhereNode.cloneWithOperation(node.where, 'And', lock) });
  }
}

/**
 * Whether the first condition compares a column with one value, as that of an id does; the others only say which rows count.
 * The server has memory for a few thousand advisory locks in all.
 */
function findsOneRow(where: OperationNode): boolean {
  if (AndNode.is(where)) return findsOneRow(where.left);
  return BinaryOperationNode.is(where) && OperatorNode.is(where.operator) && where.operator.operator === '=';
}

export const postgresDialect: SqlDialect = {
  adapter: new PostgresAdapter(),
  compiler: new QueryCompilerWithFairLocks(),
  // Its statements run elsewhere, for a limited time.
  countsRows: () => sql`true`,
  countedBody: () => sql.ref<string | null>('posts.body'),
  place: 'ctid',
  isPlaceAmong: (place, places) => sql`${place} = any(array(${places}))`,
  elementsOf: (json) => sql`json_array_elements(cast(${json} as json))`,
  isListed: (id, json) => sql`${sql.ref(id)} = any(array(select json_array_elements_text(cast(${json} as json))))`,
  integerIn: (json, name) => sql`cast(cast(${json} as json) ->> ${sql.ref(name)} as bigint)`,
  unindexed: sql.raw(''),
  seeksInLateralJoins: true,
  // It keeps the plans of prepared statements, and gathers statistics by itself only once a minute, or never.
  findStaleTables: sql`
    select relname as name from pg_class
    where oid in ('users'::regclass, 'rooms'::regclass, 'posts'::regclass)
      and pg_relation_size(oid) > 4 * relpages::bigint * current_setting('block_size')::bigint`,
};

export const postgresTables: TableDialect = {
  text: sql`text collate "C"`,
  bigint: sql`bigint`,
  tableOptions: sql``,
  // Room for the next version of each row on its page: its indexes then need no entry for the new version.
  roomOptions: sql`with (fillfactor = 70)`,
  ownTables: [
    sql`create table "commitMarks" ("id" text primary key, "mark" bigint not null, "at" bigint not null) with (fillfactor = 50)`,
  ],
  randomMark: sql`floor(random() * 2147483647)::integer + 1`,
  trigger: (name, cause, table, statements) => [
    sql`create function ${sql.id(name)}() returns trigger language plpgsql as $$ begin ${statements} return null; end $$`,
    sql`create trigger ${sql.id(name)} after ${sql.raw(cause)} on ${sql.table(table)}
      for each row execute function ${sql.id(name)}()`,
  ],
  composed: (column) => sql`normalize(${sql.ref(column)}, NFC)`,
};
