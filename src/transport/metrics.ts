import type { ServerResponse } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/* https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format */

export interface Metric {
  name: string;
  help: string;
  type: 'gauge' | 'counter';
  value: number;
}

export interface Metrics {
  /** Answers with the current metrics of this process. */
  write(response: ServerResponse): void;
  stop(): void;
}

const sampleMs = 20;
/** The delay metric covers the current window and the one before it. */
const windowMs = 30_000;

/** `readCounts` returns the metrics of the other parts; the metrics of the process are added. */
export function createMetrics(readCounts: () => Metric[]): Metrics {
  const delay = monitorEventLoopDelay({ resolution: sampleMs });
  delay.enable();
  let previousP99 = 0;
  // Reading does not reset the metric, so several collectors may read at different intervals.
  const rotation = setInterval(() => {
    previousP99 = delay.percentile(99);
    delay.reset();
  }, windowMs).unref();
  return {
    write(response) {
      const delayMs = Math.max(previousP99, delay.percentile(99)) / 1e6 - sampleMs;
      const text = [...readCounts(), ...readProcess(delayMs)].map(format).join('');
      response
        .writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8', 'cache-control': 'no-store' })
        .end(text);
    },
    stop() {
      clearInterval(rotation);
      delay.disable();
    },
  };
}

function readProcess(delayMs: number): Metric[] {
  const { rss, heapUsed, external } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return [
    gauge('process_resident_memory_bytes', 'Memory that the process holds.', rss),
    gauge('nodejs_heap_size_used_bytes', 'Of it, what JavaScript uses.', heapUsed),
    gauge('nodejs_external_memory_bytes', 'Of it, buffers that JavaScript uses.', external),
    counter('process_cpu_seconds_total', 'Time that it has used on processors.', (user + system) / 1e6),
    gauge(
      'nodejs_eventloop_lag_p99_seconds',
      'Delay of the event loop in the last 30 to 60 seconds, 99th percentile.',
      Math.max(0, delayMs) / 1_000,
    ),
  ];
}

export function gauge(name: string, help: string, value: number): Metric {
  return { name, help, type: 'gauge', value };
}

export function counter(name: string, help: string, value: number): Metric {
  return { name, help, type: 'counter', value };
}

function format({ name, help, type, value }: Metric): string {
  // NaN until something has been measured.
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${name} ${Number.isNaN(value) ? 0 : value}\n`;
}
