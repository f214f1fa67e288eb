import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics } from 'node:v8';
import { Histogram } from '../../common/histogram.ts';
import { version } from '../../common/version.ts';
import type { Database } from '../../data/database/database.ts';
import { findSetting, lastBackup } from '../../data/database/settings.ts';
import type { DatabaseTimings } from '../../data/database/timings.ts';
import type { Engine } from '../../engine/engine.ts';
import type { OperationReports } from '../../engine/operation-reports.ts';
import type { Bus } from '../../live/bus/bus.ts';
import type { FanOut } from '../../live/fan-out.ts';
import { streamTransports } from '../../live/live-counts.ts';
import type { Log } from '../../log/log.ts';
import type { TransportParts } from '../transport.ts';
import type { WebSocketEndpoint } from '../websocket/server.ts';
import type { EventLoopDelay } from './event-loop-delay.ts';
import { HttpMetrics } from './http-metrics.ts';
import { Metrics } from './metrics.ts';

const gcKinds: Record<number, string> = {
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weakcb',
};
/** In seconds; those of prom-client. */
const gcBounds = [0.001, 0.01, 0.1, 1, 2, 5];

export interface MeasuredParts extends Pick<TransportParts, 'parent'> {
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
  const metrics = new Metrics(parts.parent);
  const httpMetrics = new HttpMetrics(metrics);
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

/** The metrics of subscriptions, deliveries and the bus. */
function addLiveMetrics(metrics: Metrics, bus: Bus, fanOut: FanOut): void {
  const { counts } = fanOut;
  metrics.gauge('postroom_feeds', 'Rooms with subscribers.', () => fanOut.sizes.feeds);
  metrics.gauge('postroom_groups', 'Groups of equal subscriptions.', () => fanOut.sizes.groups);
  metrics.gauge(
    'postroom_subscribers',
    'Open subscriptions to the events of rooms, and inboxes.',
    () => fanOut.sizes.subscribers,
  );
  metrics.gauge('postroom_subscriptions', 'Open subscriptions, by transport.', () =>
    streamTransports.map((transport) => ({ labels: { transport }, value: counts.open[transport] })),
  );
  metrics.counter('postroom_subscriptions_started_total', 'Subscriptions that were opened.', () =>
    streamTransports.map((transport) => ({ labels: { transport }, value: counts.started[transport] })),
  );
  metrics.counter('postroom_subscriptions_ended_total', 'Subscriptions that have ended, by reason.', () =>
    streamTransports.flatMap((transport) => toSeries('reason', counts.ended[transport], { transport })),
  );
  metrics.counter('postroom_resumes_total', 'Subscriptions after a cursor, by OK or the code of the error.', () =>
    toSeries('outcome', counts.resumes),
  );
  metrics.counter(
    'postroom_event_executions_total',
    'Executions of a selection for an event.',
    () => counts.executions,
  );
  metrics.counter('postroom_deliveries_total', 'Events written to live subscribers.', () => counts.deliveries);
  metrics.counter('postroom_log_reads_total', "Reads of a room's log.", () => counts.logReads);
  metrics.counter('postroom_replayed_events_total', 'Events written from the log.', () => counts.replayed);
  metrics.histogram('postroom_delivery_lag_seconds', 'From the time of an event to its live write to a socket.', () => [
    { labels: {}, histogram: counts.deliveryLag },
  ]);
  metrics.gauge(
    'postroom_slow_consumers',
    'Subscriptions whose clients must read before more is written.',
    () => counts.slowConsumers,
  );
  metrics.gauge('postroom_bus_listeners', 'Listeners on the bus, including one of the process itself.', () =>
    bus.listenerCount(),
  );
  metrics.gauge('postroom_bus_up', 'Whether messages of other processes arrive.', () => Number(bus.isUp()));
  metrics.counter('postroom_bus_messages_total', 'Messages between nodes, by result.', () => [
    { labels: { result: 'published' }, value: bus.counts.published },
    { labels: { result: 'received' }, value: bus.counts.received },
    { labels: { result: 'wake_up' }, value: bus.counts.wakeUps },
    { labels: { result: 'lost' }, value: bus.counts.lost },
  ]);
}

function toSeries(label: string, counts: ReadonlyMap<string, number>, labels: Record<string, string> = {}) {
  return Array.from(counts, ([key, value]) => ({ labels: { ...labels, [label]: key }, value }));
}

/**
 * Adds the metrics of the process, under the names of prom-client's default metrics. Those themselves are not used: their
 * delay of the event loop starts again at each read, so that two collectors would falsify each other's values, and they
 * list all open handles and descriptors at each read. The result stops the measurements.
 */
function addProcessMetrics(metrics: Metrics, delay: EventLoopDelay): () => void {
  const { cpuUsage, memoryUsage } = process;
  metrics.counter('process_cpu_user_seconds_total', 'CPU time in user mode.', () => cpuUsage().user / 1e6);
  metrics.counter('process_cpu_system_seconds_total', 'CPU time in system mode.', () => cpuUsage().system / 1e6);
  metrics.counter('process_cpu_seconds_total', 'CPU time, user and system.', () => {
    const { user, system } = cpuUsage();
    return (user + system) / 1e6;
  });
  const startedAt = performance.timeOrigin / 1_000;
  metrics.gauge('process_start_time_seconds', 'Start of the process, in seconds since 1970.', () => startedAt);
  metrics.gauge('process_resident_memory_bytes', 'Resident memory.', () => memoryUsage.rss());
  metrics.gauge('nodejs_heap_size_total_bytes', 'Size of the JavaScript heap.', () => memoryUsage().heapTotal);
  metrics.gauge('nodejs_heap_size_used_bytes', 'Used part of the JavaScript heap.', () => memoryUsage().heapUsed);
  metrics.gauge('nodejs_heap_space_size_used_bytes', 'Used part of each space of the heap.', () =>
    getHeapSpaceStatistics().map(({ space_name, space_used_size }) => ({
      labels: { space: space_name.replace(/_space$/, '') },
      value: space_used_size,
    })),
  );
  metrics.gauge(
    'nodejs_external_memory_bytes',
    'Memory outside the JavaScript heap that its objects use, such as buffers.',
    () => memoryUsage().external,
  );
  metrics.gauge(
    'nodejs_eventloop_lag_p99_seconds',
    'Delay of the event loop in the last 30 to 60 seconds, 99th percentile.',
    () => delay.readP99Seconds(),
  );
  metrics.gauge('nodejs_version_info', 'The version of Node.', () => [
    { labels: { version: process.version }, value: 1 },
  ]);
  return addCollections(metrics);
}

function addCollections(metrics: Metrics): () => void {
  const byKind = new Map(Object.values(gcKinds).map((kind) => [kind, new Histogram(gcBounds)]));
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { detail, duration } = entry as PerformanceEntry & { detail: { kind: number } };
      byKind.get(gcKinds[detail.kind] ?? '')?.observe(duration / 1_000);
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  metrics.histogram('nodejs_gc_duration_seconds', 'Garbage collections, by kind.', () =>
    byKind.entries().map(([kind, histogram]) => ({ labels: { kind }, histogram })),
  );
  return () => observer.disconnect();
}
