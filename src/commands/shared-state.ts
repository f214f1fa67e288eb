import type { Channel } from '../common/channel.ts';
import { FixedWindow } from '../common/fixed-window.ts';
import { withinTime } from '../common/within-time.ts';
import type { ProcessReport } from '../transport/metrics/metrics.ts';

/** A worker that is busy for longer is in the metrics with its previous values. */
const metricsTimeoutMs = 500;

type Changed = [key: string, value: number][];

/** What the parent knows of a worker. */
interface WorkerState {
  channel: Channel;
  /** Its open connections, by their kind and address. */
  open: Map<string, number>;
  report: ProcessReport;
  unlocks: Map<string, () => void>;
}

/** What the workers of one parent share: counts, metrics and locks. */
export class SharedState {
  readonly #workers = new Set<WorkerState>();
  readonly #windows = new Map<string, FixedWindow>();
  /** When the latest holder releases the lock, by its name. */
  readonly #locks = new Map<string, Promise<void>>();
  /** The counters of the workers that have ended, so that no sum decreases. */
  #ended: Promise<ProcessReport> = Promise.resolve([]);

  /** Answers the questions of a worker. Call the result when it has ended. */
  add(channel: Channel): () => void {
    const worker: WorkerState = { channel, open: new Map(), report: [], unlocks: new Map() };
    this.#workers.add(worker);
    Object.assign(channel.handlers, {
      charge: ({ name, windowSeconds, changed }: { name: string; windowSeconds: number; changed: Changed }) => {
        const window = this.#windows.get(name) ?? new FixedWindow({ limit: 0, windowSeconds });
        this.#windows.set(name, window);
        return changed.map(([key, points]) => window.charge(key, points));
      },
      open: ({ kind, changed }: { kind: string; changed: Changed }) =>
        changed.map(([address, count]) => this.#countOthers(worker, `${kind} ${address}`, count)),
      metrics: () => this.#readMetrics(),
      lock: (name: string) => this.#lock(worker, name),
      unlock: (name: string) => worker.unlocks.get(name)?.(),
    });
    return () => {
      this.#workers.delete(worker);
      for (const unlock of worker.unlocks.values()) unlock();
      this.#ended = this.#ended.then((ended) => addCounters(ended, worker.report).catch(() => ended));
    };
  }

  #countOthers(worker: WorkerState, key: string, own: number): number {
    if (own === 0) worker.open.delete(key);
    else worker.open.set(key, own);
    return this.#workers.values().reduce((sum, each) => sum + (each === worker ? 0 : (each.open.get(key) ?? 0)), 0);
  }

  /** Resolves when all earlier holders have released the lock of this name. */
  #lock(worker: WorkerState, name: string): Promise<void> | undefined {
    // The question of a worker may arrive after its end.
    if (!this.#workers.has(worker)) return undefined;
    const earlier = this.#locks.get(name);
    const released = new Promise<void>((unlock) => worker.unlocks.set(name, unlock));
    this.#locks.set(name, earlier ? earlier.then(() => released) : released);
    return earlier;
  }

  async #readMetrics(): Promise<ProcessReport[]> {
    const read = async (worker: WorkerState) => {
      const answer = worker.channel.ask<ProcessReport>('metrics');
      worker.report = (await withinTime(metricsTimeoutMs, answer, () => undefined)) ?? worker.report;
    };
    await Promise.all(Array.from(this.#workers, read));
    const [ended, reports] = [this.#ended, Array.from(this.#workers, ({ report }) => report)];
    return [await ended, ...reports];
  }
}

async function addCounters(ended: ProcessReport, report: ProcessReport): Promise<ProcessReport> {
  const { AggregatorRegistry } = await import('prom-client');
  const counters = report.filter(({ type }) => type !== 'gauge');
  return AggregatorRegistry.aggregate([ended, counters]).getMetricsAsJSON();
}
