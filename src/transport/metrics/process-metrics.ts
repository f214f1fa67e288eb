import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics } from 'node:v8';
import { Histogram } from '../../common/histogram.ts';
import type { EventLoopDelay } from './event-loop-delay.ts';
import type { Metrics } from './metrics.ts';

const gcKinds: Record<number, string> = {
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weakcb',
};
/** In seconds; those of prom-client. */
const gcBounds = [0.001, 0.01, 0.1, 1, 2, 5];

/**
 * Adds the metrics of the process, under the names of prom-client's default metrics. Those themselves are not used: their
 * delay of the event loop starts again at each read, so that two collectors would falsify each other's values, and they
 * list all open handles and descriptors at each read. The result stops the measurements.
 */
export function addProcessMetrics(metrics: Metrics, delay: EventLoopDelay): () => void {
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
