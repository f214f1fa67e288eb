import { type SelectModifierNode, SqliteAdapter, SqliteQueryCompiler, type Transaction } from 'kysely';
import { createQueryBuilder, DirectExecutor, type StatementRunner } from '../sql/query-builder.ts';
import type { Tables } from '../tables.ts';
import { sqliteSql } from './sql-dialect.ts';

/** SQLite has no row locks: a transaction that writes has the whole database for itself. */
class QueryCompilerWithoutRowLocks extends SqliteQueryCompiler {
  protected override visitSelectModifier(node: SelectModifierNode): void {
    const isLock = node.modifier === 'SkipLocked' || node.modifier?.startsWith('For');
    if (!isLock) super.visitSelectModifier(node);
  }
}

const adapter = Object.assign(new SqliteAdapter(), { sql: sqliteSql });
const compiler = new QueryCompilerWithoutRowLocks();

export function toSqliteDb(runner: StatementRunner): Transaction<Tables> {
  return createQueryBuilder(new DirectExecutor(compiler, adapter, runner));
}
