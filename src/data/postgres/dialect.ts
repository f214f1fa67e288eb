import {
  AndNode,
  BinaryOperationNode,
  type OperationNode,
  OperatorNode,
  PostgresAdapter,
  PostgresQueryCompiler,
  type SelectQueryNode,
  sql,
  type Transaction,
  WhereNode,
} from 'kysely';
import { createQueryBuilder, DirectExecutor, type StatementRunner } from '../sql/query-builder.ts';
import type { Tables } from '../tables.ts';
import { postgresSql } from './sql-dialect.ts';

const adapter = Object.assign(new PostgresAdapter(), { sql: postgresSql });

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

export function toPostgresDb(runner: StatementRunner): Transaction<Tables> {
  return createQueryBuilder(new DirectExecutor(compiler, adapter, runner));
}
