import type { ServerResponse } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, Gauge, Registry } from 'prom-client';

const sampleMs = 20;
/** The delay metric covers the current window and the one before it. */
const windowMs = 30_000;

/**
 * The metrics of this process. prom-client's default metrics are not used: their delay of the event loop starts again at
 * each read, so two collectors would falsify each other's values.
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #delay = new EventLoopDelay();

  constructor() {
    this.gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss());
    this.gauge(
      'nodejs_heap_size_used_bytes',
      'Used part of the JavaScript heap.',
      () => process.memoryUsage().heapUsed,
    );
    this.gauge(
      'nodejs_external_memory_bytes',
      'Memory outside the JavaScript heap that its objects use, such as buffers.',
      () => process.memoryUsage().external,
    );
    this.counter('process_cpu_seconds_total', 'CPU time, user and system.', readCpuSeconds);
    this.gauge(
      'nodejs_eventloop_lag_p99_seconds',
      'Delay of the event loop in the last 30 to 60 seconds, 99th percentile.',
      () => this.#delay.readP99Seconds(),
    );
  }

  /** `read` is called for each collection. */
  gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.#registry],
      collect() {
        this.set(read());
      },
    });
  }

  /** `read` returns the count since the start of the process. */
  counter(name: string, help: string, read: () => number): void {
    new Counter({
      name,
      help,
      registers: [this.#registry],
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  }

  /** Answers with the current values. */
  async write(response: ServerResponse): Promise<void> {
    const text = await this.#registry.metrics();
    response.writeHead(200, { 'content-type': this.#registry.contentType, 'cache-control': 'no-store' }).end(text);
  }

  stop(): void {
    this.#delay.stop();
  }
}

function readCpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

class EventLoopDelay {
  readonly #histogram = monitorEventLoopDelay({ resolution: sampleMs });
  #previousP99 = 0;
  readonly #rotation = setInterval(() => this.#rotate(), windowMs).unref();

  constructor() {
    this.#histogram.enable();
  }

  readP99Seconds(): number {
    const nanoseconds = Math.max(this.#previousP99, this.#histogram.percentile(99));
    return Math.max(0, nanoseconds / 1e9 - sampleMs / 1_000);
  }

  #rotate(): void {
    this.#previousP99 = this.#histogram.percentile(99);
    this.#histogram.reset();
  }

  stop(): void {
    clearInterval(this.#rotation);
    this.#histogram.disable();
  }
}
