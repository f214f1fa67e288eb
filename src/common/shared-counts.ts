import { setTimeout as wait } from 'node:timers/promises';
import type { Channel } from './channel.ts';
import { CoalescedWork } from './coalesced-work.ts';

/** No request waits for the parent: what a worker knows of the others is that old. */
const intervalMs = 20;
/** While the parent does not answer, each worker counts further keys alone. */
const maxChanged = 10_000;

/** What workers count together: each sends its parent the keys that have changed, and gets what all have counted of them. */
export class SharedCounts<Count> {
  readonly #changed = new Map<string, number>();
  readonly #exchange: CoalescedWork;

  /** `question` has options for the parent. */
  constructor(parent: Channel, kind: string, question: object, adopt: (key: string, count: Count) => void) {
    this.#exchange = new CoalescedWork(async () => {
      await wait(intervalMs, undefined, { ref: false });
      const changed = [...this.#changed];
      this.#changed.clear();
      const counts = await parent.ask<Count[]>(kind, { ...question, changed });
      for (const [index, [key]] of changed.entries()) if (counts) adopt(key, counts[index] as Count);
    });
  }

  add(key: string, points: number): void {
    this.set(key, (this.#changed.get(key) ?? 0) + points);
  }

  set(key: string, value: number): void {
    if (value === 0 || this.#changed.size < maxChanged || this.#changed.has(key)) this.#changed.set(key, value);
    void this.#exchange.request();
  }
}
