import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import { yieldWhenDue } from '../../event-loop.ts';
import type { Bus } from '../bus/bus.ts';

const backlogCheckMs = 5;
/** More rooms than have viewers at a time. The reports of further ones are left out, and their leases end. */
const maxDue = 50_000;

/** The reports of one room. */
interface Reports {
  /** Publishes what is due, in parts, with a pause after each. */
  publish(pause: () => Promise<void>): Promise<void>;
}

/** Publishes the reports of all rooms, one after the other, as fast as the bus sends them and a few in each turn. */
export class ReportQueue {
  readonly #bus: Bus;
  readonly #onError: (error: unknown) => void;
  readonly #due = new Map<Reports, PromiseWithResolvers<void>>();
  #isPublishing = false;

  constructor(bus: Bus, onError: (error: unknown) => void) {
    this.#bus = bus;
    this.#onError = onError;
  }

  /** Resolves when what is due in the room is published. */
  async request(reports: Reports): Promise<void> {
    const due = this.#due.get(reports) ?? Promise.withResolvers();
    if (this.#due.size < maxDue) this.#due.set(reports, due);
    else if (!this.#due.has(reports)) return;
    if (!this.#isPublishing) void this.#publish();
    await due.promise;
  }

  /** What is due is not published any more. */
  stop(): void {
    this.#due.clear();
  }

  async #publish(): Promise<void> {
    this.#isPublishing = true;
    await setImmediate();
    for (const [reports, { resolve }] of this.#due) {
      // A request from now on is for another report.
      this.#due.delete(reports);
      await reports.publish(() => this.#pause()).catch(this.#onError);
      resolve();
      await this.#pause();
    }
    // In the same synchronous step as the last check of `#due`, so that no report is forgotten.
    this.#isPublishing = false;
  }

  async #pause(): Promise<void> {
    await yieldWhenDue();
    while (this.#bus.hasBacklog()) await wait(backlogCheckMs, undefined, { ref: false });
  }
}
