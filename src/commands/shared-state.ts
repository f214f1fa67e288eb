import type { Channel } from '../common/channel.ts';
import { FixedWindow } from '../common/fixed-window.ts';
import { withinTime } from '../common/within-time.ts';
import type { ProcessReport } from '../transport/metrics/metrics.ts';

/** A worker that is busy for longer is in the metrics with its previous values. */
const metricsTimeoutMs = 500;

type Changed = [key: string, value: number][];

/** What the parent knows of a worker. */
interface Sharer {
  channel: Channel;
  /** Its open connections, by their kind and address. */
  open: Map<string, number>;
  report: ProcessReport;
  unlocks: Map<string, () => void>;
}

/** What the workers of one parent share: counts, metrics and locks. */
export class SharedState {
  readonly #sharers = new Set<Sharer>();
  readonly #windows = new Map<string, FixedWindow>();
  /** When the latest holder releases the lock, by its name. */
  readonly #locks = new Map<string, Promise<void>>();
  /** The counters of the workers that have ended, so that no sum decreases. */
  #ended: Promise<ProcessReport> = Promise.resolve([]);

  /** Answers the questions of a worker. Call the result when it has ended. */
  add(channel: Channel): () => void {
    const sharer: Sharer = { channel, open: new Map(), report: [], unlocks: new Map() };
    this.#sharers.add(sharer);
    Object.assign(channel.handlers, {
      charge: ({ name, windowSeconds, changed }: { name: string; windowSeconds: number; changed: Changed }) => {
        const window = this.#windows.get(name) ?? new FixedWindow({ limit: 0, windowSeconds });
        this.#windows.set(name, window);
        return changed.map(([key, points]) => window.charge(key, points));
      },
      open: ({ kind, changed }: { kind: string; changed: Changed }) =>
        changed.map(([address, count]) => this.#countOthers(sharer, `${kind} ${address}`, count)),
      metrics: () => this.#readMetrics(),
      lock: (name: string) => this.#lock(sharer, name),
      unlock: (name: string) => sharer.unlocks.get(name)?.(),
    });
    return () => {
      this.#sharers.delete(sharer);
      for (const unlock of sharer.unlocks.values()) unlock();
      this.#ended = this.#ended.then((ended) => addCounters(ended, sharer.report).catch(() => ended));
    };
  }

  #countOthers(sharer: Sharer, key: string, own: number): number {
    if (own === 0) sharer.open.delete(key);
    else sharer.open.set(key, own);
    return this.#sharers.values().reduce((sum, each) => sum + (each === sharer ? 0 : (each.open.get(key) ?? 0)), 0);
  }

  /** Resolves when all earlier holders have released the lock of this name. */
  #lock(sharer: Sharer, name: string): Promise<void> | undefined {
    // The question of a worker may arrive after its end.
    if (!this.#sharers.has(sharer)) return undefined;
    const earlier = this.#locks.get(name);
    const released = new Promise<void>((unlock) => sharer.unlocks.set(name, unlock));
    this.#locks.set(name, earlier ? earlier.then(() => released) : released);
    return earlier;
  }

  async #readMetrics(): Promise<ProcessReport[]> {
    const read = async (sharer: Sharer) => {
      const answer = sharer.channel.ask<ProcessReport>('metrics');
      sharer.report = (await withinTime(metricsTimeoutMs, answer, () => undefined)) ?? sharer.report;
    };
    await Promise.all(Array.from(this.#sharers, read));
    const [ended, reports] = [this.#ended, Array.from(this.#sharers, ({ report }) => report)];
    return [await ended, ...reports];
  }
}

async function addCounters(ended: ProcessReport, report: ProcessReport): Promise<ProcessReport> {
  const { AggregatorRegistry } = await import('prom-client');
  const counters = report.filter(({ type }) => type !== 'gauge');
  return AggregatorRegistry.aggregate([ended, counters]).getMetricsAsJSON();
}
