import type { Database } from '../../data/database/database.ts';
import { findSetting, lastBackup } from '../../data/database/settings.ts';
import type { DatabaseTimings } from '../../data/database/timings.ts';
import type { Engine } from '../../engine/engine.ts';
import type { OperationReports } from '../../engine/operation-reports.ts';
import type { Bus } from '../../live/bus/bus.ts';
import type { FanOut } from '../../live/fan-out.ts';
import type { Log } from '../../log/log.ts';
import { version } from '../version.ts';
import type { WebSocketEndpoint } from '../websocket/server.ts';
import type { EventLoopDelay } from './event-loop-delay.ts';
import { HttpMetrics } from './http-metrics.ts';
import { addLiveMetrics } from './live-metrics.ts';
import { Metrics } from './metrics.ts';
import { addProcessMetrics } from './process-metrics.ts';

export interface MeasuredParts {
  bus: Bus;
  fanOut: FanOut;
  operationReports: OperationReports;
  database: Pick<Database, 'kind' | 'checks'>;
  timings: DatabaseTimings;
  eventLoopDelay: EventLoopDelay;
  webSockets: Pick<WebSocketEndpoint, 'size'>;
  log: Pick<Log, 'countDropped'>;
  engine: Pick<Engine, 'countRateLimited'>;
  /** Because no descriptor was left. */
  droppedConnections: { count: number };
}

/** Creates all metrics of the server and of its process. `stop` stops the measurements. */
export function createMetrics(parts: MeasuredParts) {
  const { engine, operationReports, database, timings, webSockets, log, droppedConnections } = parts;
  const metrics = new Metrics();
  const httpMetrics = new HttpMetrics();
  httpMetrics.addTo(metrics);
  metrics.gauge('postroom_build_info', 'The version of Postroom.', () => [{ labels: { version }, value: 1 }]);
  metrics.counter('postroom_operations_total', 'Operations by type, and by OK or the code of their first error.', () =>
    Array.from(operationReports.counts(), ({ type, code, count }) => ({ labels: { type, code }, value: count })),
  );
  metrics.counter('postroom_deprecated_fields_total', 'Operations that used a deprecated element of the schema.', () =>
    Array.from(operationReports.deprecatedUses, ([coordinate, count]) => ({ labels: { coordinate }, value: count })),
  );
  metrics.counter('postroom_rate_limited_total', 'Requests that the rate has refused.', engine.countRateLimited);
  addLiveMetrics(metrics, parts.bus, parts.fanOut);
  metrics.histogram('postroom_database_seconds', 'Durations of database work, by kind.', () =>
    Object.entries(timings).map(([kind, histogram]) => ({ labels: { kind }, histogram })),
  );
  // Nothing records the backups of PostgreSQL.
  if (database.kind === 'sqlite') {
    const read = async () => Number((await findSetting(database.checks, lastBackup)) ?? 0) / 1_000;
    const help = 'Start of the newest verified backup, in seconds since 1970; 0 without one.';
    // It is absent if the database cannot be read.
    metrics.gauge('postroom_last_backup_timestamp_seconds', help, () => read().catch(() => []));
  }
  metrics.gauge('postroom_websockets', 'Open WebSockets.', () => webSockets.size);
  metrics.counter(
    'postroom_dropped_connections_total',
    'Connections dropped because no file descriptor was left.',
    () => droppedConnections.count,
  );
  metrics.counter(
    'postroom_log_lines_dropped_total',
    'Log lines dropped because standard error was not read or could not be written.',
    () => log.countDropped(),
  );
  return { metrics, httpMetrics, stop: addProcessMetrics(metrics, parts.eventLoopDelay) };
}
