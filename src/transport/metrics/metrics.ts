import cluster from 'node:cluster';
import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { AggregatorRegistry, type Metric, type MetricValue, type MetricValueWithName, Registry } from 'prom-client';
import type { Channel } from '../../common/channel.ts';
import type { Histogram } from '../../common/histogram.ts';

/** One series of a metric with labels. */
type Series = MetricValue<string>;

/** One series of a histogram. */
export interface HistogramSeries {
  labels: Series['labels'];
  histogram: Histogram;
}

/** What a collection returns: one value, or a value for each combination of labels. */
type Read = () => number | Iterable<Series> | Promise<number | Iterable<Series>>;

/** The minimum time between two collections, each of which takes a millisecond or more. */
const intervalMs = 50;

/** Gauges whose values cannot be added: each worker shows its own, with a label. */
const ofEachWorker = /^(process|nodejs|postroom_(build|last_backup|feeds|bus))(_|$)/;
/** What prom-client reports of one process. */
export type ProcessReport = { type: unknown }[];

/**
 * The metrics of this process, and of the other workers of its parent, which are read when they are collected: what happens often
 * only increases a number. prom-client writes the format.
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #parent: Channel | undefined;

  constructor(parent?: Channel) {
    this.#parent = parent;
    if (parent) parent.handlers['metrics'] = () => this.#registry.getMetricsAsJSON();
  }

  #next: Promise<Buffer> | undefined;
  /** By `performance.now()`. */
  #collectedAt = Number.NEGATIVE_INFINITY;

  /** `read` is called for each collection. */
  gauge(name: string, help: string, read: Read): void {
    const labels = cluster.worker && ofEachWorker.test(name) ? { worker: cluster.worker.id } : {};
    const readOwn = async () => toValues(await read()).map((own) => ({ ...own, labels: { ...own.labels, ...labels } }));
    this.#add(name, help, 'gauge', readOwn);
  }

  /** `read` returns the count since the start of the process. */
  counter(name: string, help: string, read: Read): void {
    this.#add(name, help, 'counter', async () => toValues(await read()));
  }

  /** `read` is called for each collection. */
  histogram(name: string, help: string, read: () => Iterable<HistogramSeries>): void {
    this.#add(name, help, 'histogram', async () => Array.from(read()).flatMap((series) => toBuckets(name, series)));
  }

  /** Answers with the values after this call. All requests that wait at the same time share one collection. */
  async write(response: ServerResponse): Promise<void> {
    this.#next ??= this.#collect();
    const text = await this.#next;
    const headers = { 'content-type': this.#registry.contentType, 'cache-control': 'no-store' };
    response.writeHead(200, { ...headers, 'content-length': text.length }).end(text);
  }

  async #collect(): Promise<Buffer> {
    await wait(Math.max(0, this.#collectedAt + intervalMs - performance.now()));
    this.#next = undefined;
    this.#collectedAt = performance.now();
    const reports = await this.#parent?.ask<ProcessReport[]>('metrics');
    return Buffer.from(await (reports ? AggregatorRegistry.aggregate(reports) : this.#registry).metrics());
  }

  #add(name: string, help: string, type: string, read: () => Promise<Series[]>): void {
    const described = { name, help, type, aggregator: 'sum' };
    const metric = { ...described, get: async () => ({ ...described, values: await read() }) };
    // The registry calls only `get`; the type lists prom-client's own classes.
    this.#registry.registerMetric(metric as unknown as Metric);
  }
}

function toValues(collected: Awaited<ReturnType<Read>>): Series[] {
  return typeof collected === 'number' ? [{ labels: {}, value: collected }] : [...collected];
}

function toBuckets(name: string, { labels, histogram }: HistogramSeries): MetricValueWithName<string>[] {
  const counts = histogram.cumulativeCounts();
  const buckets = counts.map((value, index) => {
    const bound = histogram.bounds[index];
    return {
      metricName: `${name}_bucket`,
      labels: { ...labels, le: bound === undefined ? '+Inf' : `${bound}` },
      value,
    };
  });
  const count = { metricName: `${name}_count`, labels, value: counts.at(-1) ?? 0 };
  return [...buckets, { metricName: `${name}_sum`, labels, value: histogram.sum }, count];
}
