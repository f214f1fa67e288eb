import {
  type CompiledQuery,
  DefaultQueryExecutor,
  type Kysely,
  type QueryExecutor,
  type QueryResult,
  type Transaction,
} from 'kysely';
import { type Span, type SpanAttributes, withinSpan } from '../../tracing/span.ts';
import { createQueryBuilder } from '../sql/query-builder.ts';
import type { Tables } from '../tables.ts';
import type { Database, Db, Work } from './database.ts';

/* https://opentelemetry.io/docs/specs/semconv/database/database-spans/ */

/**
 * The database, with spans of the transactions, snapshots and statements that belong to a span. `system` is its name in
 * OpenTelemetry.
 */
export function withSpans(database: Database, system: string): Database {
  const own = { 'db.system.name': system };
  const snapshotOf =
    (name: string, take: Database['snapshot']): Database['snapshot'] =>
    (work, context) => {
      const span = context?.span?.startChild(name, 'internal', own);
      if (!span) return take(work, context);
      return withinSpan(span, () => take((db) => work(traced(db, span, own)), context));
    };
  return {
    ...database,
    readsFor(context) {
      const reads = database.readsFor(context);
      return context.span ? traced(reads, context.span, own) : reads;
    },
    transaction(work, options) {
      if (!options?.span) return database.transaction(work, options);
      const span = options.span.startChild('transaction', 'internal', own);
      return withinSpan(span, () => database.transaction(tracedWork(work, span, own), options));
    },
    snapshot: snapshotOf('snapshot', database.snapshot),
    snapshotDuringWrites: snapshotOf('snapshot during writes', database.snapshotDuringWrites),
  };
}

/** Records how long the transaction waited for its turn or its connection, and how often its work ran. */
function tracedWork<T>(work: Work<T>, span: Span, own: SpanAttributes): Work<T> {
  const start = performance.now();
  let attempts = 0;
  return (db) => {
    attempts += 1;
    if (attempts === 1) span.set({ 'postroom.transaction.wait_ms': performance.now() - start });
    else span.set({ 'postroom.transaction.attempts': attempts });
    return work(traced(db, span, own));
  };
}

function traced(db: Db, span: Span, own: SpanAttributes): Transaction<Tables> {
  return createQueryBuilder(new TracedExecutor(db.getExecutor(), span, own));
}

/** Executes statements inside spans, which have their text but never their values. */
class TracedExecutor extends DefaultQueryExecutor {
  readonly #inner: QueryExecutor;
  readonly #parent: Span;
  readonly #own: SpanAttributes;

  constructor(inner: QueryExecutor, parent: Span, own: SpanAttributes) {
    super(inner, inner.adapter, inner);
    this.#inner = inner;
    this.#parent = parent;
    this.#own = own;
  }

  override executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const operation = /^\s*(\w+)/.exec(query.sql)?.[1]?.toUpperCase() ?? 'STATEMENT';
    const summary = `${operation}${tableOf(query.sql)}`;
    const span = this.#parent.startChild(summary, 'client', {
      ...this.#own,
      'db.operation.name': operation,
      'db.query.summary': summary,
      'db.query.text': query.sql,
    });
    return withinSpan(span, () => this.#inner.executeQuery(query as CompiledQuery<Row>));
  }
}

/** The first table of a statement, after a space. */
function tableOf(sql: string): string {
  const [, table] = /\b(?:from|into|update)\s+"?(\w+)/i.exec(sql) ?? [];
  return table === undefined ? '' : ` ${table}`;
}

/** The reads of the server itself, or, within a span, the same reads with spans. */
export function readsWithin(database: Database, span: Span | undefined): Kysely<Tables> {
  return span ? database.readsFor({ caller: '', span }) : database.db;
}
