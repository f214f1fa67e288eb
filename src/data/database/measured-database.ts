import type { Kysely, Transaction } from 'kysely';
import type { Histogram } from '../../common/histogram.ts';
import { type Span, type SpanAttributes, withinSpan } from '../../tracing/tracing.ts';
import { createDb, dialectOf } from '../sql/sql-dialect.ts';
import type { Tables } from '../tables.ts';
import type { Database, Db, Work } from './database.ts';
import type { DatabaseTimings } from './timings.ts';

/* https://opentelemetry.io/docs/specs/semconv/database/database-spans/ */

/**
 * The database, with its transactions and snapshots measured, and with spans of the transactions, snapshots and statements
 * that belong to a span. `system` is its name in OpenTelemetry.
 */
export function measured(database: Database, system: string, timings: DatabaseTimings): Database {
  const own = { 'db.system.name': system };
  const snapshotOf =
    (name: string, take: Database['snapshot']): Database['snapshot'] =>
    (work, context) => {
      const span = context?.span?.startChild(name, 'internal', own);
      if (!span) return take(work, context);
      return withinSpan(span, () => take((db) => work(traced(db, span, own)), context));
    };
  const snapshot = snapshotOf('snapshot', database.snapshot);
  return {
    ...database,
    readsFor(context) {
      const reads = database.readsFor(context);
      return context.span ? traced(reads, context.span, own) : reads;
    },
    transaction: (work, options) =>
      timed(timings.transaction, () => {
        const span = options?.span?.startChild('transaction', 'internal', own);
        if (!span) return database.transaction(work, options);
        return withinSpan(span, () => database.transaction(tracedWork(work, span, own), options));
      }),
    snapshot: (work, context) => timed(timings.snapshot, () => snapshot(work, context)),
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

/** The statements are executed inside spans, which have their text but never their values. */
function traced(db: Db, parent: Span, own: SpanAttributes): Transaction<Tables> {
  const inner = db.getExecutor();
  return createDb(
    {
      executeQuery(query) {
        const operation = /^\s*(\w+)/.exec(query.sql)?.[1]?.toUpperCase() ?? 'STATEMENT';
        const summary = `${operation}${tableOf(query.sql)}`;
        const span = parent.startChild(summary, 'client', {
          ...own,
          'db.operation.name': operation,
          'db.query.summary': summary,
          'db.query.text': query.sql,
        });
        return withinSpan(span, () => inner.executeQuery(query as never));
      },
    },
    dialectOf(db),
  );
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

/** Runs work, and measures how long it takes. */
export async function timed<T>(histogram: Histogram, work: () => Promise<T>): Promise<T> {
  const start = performance.now();
  try {
    return await work();
  } finally {
    histogram.observeSince(start);
  }
}
