import type { ServerResponse } from 'node:http';
import { type Metric, Registry } from 'prom-client';
import type { Histogram } from '../../histogram.ts';

export type Labels = Record<string, string>;

/** One series of a metric with labels. */
export interface Series {
  labels: Labels;
  value: number;
}

/** One series of a histogram. */
export interface HistogramSeries {
  labels: Labels;
  histogram: Histogram;
}

/** What a collection returns: one value, or a value for each combination of labels. */
type Read = () => number | Iterable<Series>;

interface Value extends Series {
  /** The name of the metric, if absent. */
  metricName?: string;
}

/**
 * The metrics of this process, which are read when they are collected: what happens often only increases a number.
 * prom-client writes the format.
 */
export class Metrics {
  readonly #registry = new Registry();

  /** `read` is called for each collection. */
  gauge(name: string, help: string, read: Read): void {
    this.#add(name, help, 'gauge', () => toValues(read()));
  }

  /** `read` returns the count since the start of the process. */
  counter(name: string, help: string, read: Read): void {
    this.#add(name, help, 'counter', () => toValues(read()));
  }

  /** `read` is called for each collection. */
  histogram(name: string, help: string, read: () => Iterable<HistogramSeries>): void {
    this.#add(name, help, 'histogram', () => Array.from(read()).flatMap((series) => toBuckets(name, series)));
  }

  /** Answers with the current values. */
  async write(response: ServerResponse): Promise<void> {
    const text = await this.#registry.metrics();
    response.writeHead(200, { 'content-type': this.#registry.contentType, 'cache-control': 'no-store' }).end(text);
  }

  #add(name: string, help: string, type: string, read: () => Value[]): void {
    const metric = { name, help, type, get: async () => ({ name, help, type, values: read() }) };
    // The registry calls only `get`; the type lists prom-client's own classes.
    this.#registry.registerMetric(metric as unknown as Metric);
  }
}

function toValues(read: ReturnType<Read>): Value[] {
  return typeof read === 'number' ? [{ labels: {}, value: read }] : [...read];
}

function toBuckets(name: string, { labels, histogram }: HistogramSeries): Value[] {
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
