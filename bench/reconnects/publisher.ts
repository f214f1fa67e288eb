import { setTimeout as wait } from 'node:timers/promises';
import type { Running } from './servers.ts';

/** The published benchmark sends two messages per second. */
export const publishEveryMs = 500;

/** Publishes numbered messages, each at its time. */
export class Publisher {
  /** The numbers of the messages that the server has confirmed. */
  readonly confirmed: number[] = [];
  readonly #server: Running;
  readonly #pending: Promise<void>[] = [];
  #isStopped = false;

  constructor(server: Running) {
    this.#server = server;
  }

  async publish(count: number): Promise<void> {
    const startedAt = performance.now();
    for (let number = 1; number <= count && !this.#isStopped; number += 1) {
      const confirm = () => void this.confirmed.push(number);
      // While a server is restarted it confirms nothing; such a message may arrive or not.
      this.#pending.push(this.#server.publish(number).then(confirm, () => {}));
      await wait(Math.max(0, startedAt + number * publishEveryMs - performance.now()));
    }
    await Promise.all(this.#pending);
  }

  stop(): void {
    this.#isStopped = true;
  }
}
