import { setTimeout as wait } from 'node:timers/promises';
import type { Channel } from '../common/channel.ts';
import { FixedWindow } from '../common/fixed-window.ts';

/** A worker that is busy for longer is in the metrics with its previous values. */
const metricsTimeoutMs = 500;

/** What prom-client reports of a process. */
type Report = { type: unknown }[];
type Changed = [key: string, value: number][];

interface Member {
  channel: Channel;
  /** Its open connections, by their kind and address. */
  open: Map<string, number>;
  report: Report;
  endTurns: Map<string, () => void>;
}

/** What the workers of one parent share: counts, metrics and turns. */
export class SharedState {
  readonly #members = new Set<Member>();
  readonly #windows = new Map<string, FixedWindow>();
  /** The end of the latest turn, by name. */
  readonly #turns = new Map<string, Promise<void>>();
  /** The counters of the workers that have ended, so that no sum decreases. */
  #ended: Promise<Report> = Promise.resolve([]);

  /** Answers the questions of a worker. Call the result when it has ended. */
  add(channel: Channel): () => void {
    const member: Member = { channel, open: new Map(), report: [], endTurns: new Map() };
    this.#members.add(member);
    Object.assign(channel.handlers, {
      charge: ({ name, windowSeconds, changed }: { name: string; windowSeconds: number; changed: Changed }) => {
        const window = this.#windows.get(name) ?? new FixedWindow({ limit: 0, windowSeconds });
        this.#windows.set(name, window);
        return changed.map(([key, points]) => window.charge(key, points));
      },
      open: ({ kind, changed }: { kind: string; changed: Changed }) =>
        changed.map(([address, count]) => this.#countOthers(member, `${kind} ${address}`, count)),
      metrics: () => this.#readMetrics(),
      turn: (name: string) => this.#waitForTurn(member, name),
      endTurn: (name: string) => member.endTurns.get(name)?.(),
    });
    return () => {
      this.#members.delete(member);
      for (const endTurn of member.endTurns.values()) endTurn();
      this.#ended = this.#ended.then((ended) => addCounters(ended, member.report).catch(() => ended));
    };
  }

  #countOthers(member: Member, key: string, own: number): number {
    if (own === 0) member.open.delete(key);
    else member.open.set(key, own);
    return this.#members.values().reduce((sum, each) => sum + (each === member ? 0 : (each.open.get(key) ?? 0)), 0);
  }

  /** Resolves when all earlier turns of this name have ended. */
  #waitForTurn(member: Member, name: string): Promise<void> | undefined {
    // The question of a worker may arrive after its end.
    if (!this.#members.has(member)) return undefined;
    const earlier = this.#turns.get(name);
    const ended = new Promise<void>((endTurn) => member.endTurns.set(name, endTurn));
    this.#turns.set(name, earlier ? earlier.then(() => ended) : ended);
    return earlier;
  }

  async #readMetrics(): Promise<Report[]> {
    const read = async (member: Member) => {
      const answer = member.channel.ask<Report>('metrics');
      const late = wait(metricsTimeoutMs, undefined, { ref: false });
      member.report = (await Promise.race([answer, late])) ?? member.report;
    };
    await Promise.all(Array.from(this.#members, read));
    const [ended, reports] = [this.#ended, Array.from(this.#members, ({ report }) => report)];
    return [await ended, ...reports];
  }
}

async function addCounters(ended: Report, report: Report): Promise<Report> {
  const { AggregatorRegistry } = await import('prom-client');
  const counters = report.filter(({ type }) => type !== 'gauge');
  return AggregatorRegistry.aggregate([ended, counters]).getMetricsAsJSON();
}
