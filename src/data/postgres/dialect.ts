import {
  AndNode,
  BinaryOperationNode,
  type DatabaseConnection,
  type Driver,
  Kysely,
  type KyselyProps,
  type OperationNode,
  OperatorNode,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type SelectQueryNode,
  sql,
  Transaction,
  WhereNode,
} from 'kysely';
import { DirectExecutor } from '../sql/direct-executor.ts';
import type { Tables } from '../tables.ts';

const adapter = new PostgresAdapter();

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

const compiler = new QueryCompilerWithFairLocks();

/** Kysely would run the transaction statements of its driver, and only one statement after the other. */
const unused = new Proxy({} as Driver, {
  get: () => () => {
    throw new Error('Use the functions of Database.');
  },
});

/** Kysely's query builder on a connection that takes any number of statements at once. */
export function toDb(connection: DatabaseConnection): Kysely<Tables> {
  return new Kysely<Tables>(toProps(connection));
}

export function toTransaction(connection: DatabaseConnection): Transaction<Tables> {
  return new Transaction<Tables>(toProps(connection));
}

const dialect = {
  createAdapter: () => adapter,
  createDriver: () => unused,
  createQueryCompiler: () => compiler,
  createIntrospector: (db: Kysely<unknown>) => new PostgresIntrospector(db),
};

function toProps(connection: DatabaseConnection): KyselyProps {
  return { config: { dialect }, dialect, driver: unused, executor: new DirectExecutor(compiler, adapter, connection) };
}
