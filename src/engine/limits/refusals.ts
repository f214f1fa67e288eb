import { setTimeout as sleep, setImmediate as turnEnd } from 'node:timers/promises';
import type { Caller, RateOptions } from './rate.ts';

/** Of a window: who is at work on a document mistakes it now and then. */
const free = 10;
const pauseMs = 500;

/**
 * A document that nobody sent before takes a hundred times as long to look at as a known one to run. Whoever keeps sending
 * such as are refused waits a moment behind each, so that others do not wait for them. How many may wait is bounded by the
 * rate.
 */
export class RefusalPauses {
  readonly #windowMs: number;
  /** Of the window that began with the first of them. */
  readonly #refused = new Map<string, number>();
  readonly #pauses = new Map<string, Promise<void>>();

  constructor({ windowSeconds }: RateOptions) {
    this.#windowMs = windowSeconds * 1_000;
  }

  /** Resolves for one after the other, in order. */
  async over(caller: Caller): Promise<void> {
    const key = keyOf(caller);
    let hasWaited = false;
    for (let pause = this.#pauses.get(key); pause; pause = this.#pauses.get(key)) {
      hasWaited = true;
      await pause;
    }
    // By the next turn of the event loop it is known whether this one is refused as well.
    if (hasWaited) this.#hold(key, turnEnd());
  }

  /** One more was refused. */
  count(caller: Caller): void {
    const key = keyOf(caller);
    const refused = (this.#refused.get(key) ?? 0) + 1;
    this.#refused.set(key, refused);
    if (refused === 1) setTimeout(() => this.#refused.delete(key), this.#windowMs).unref();
    if (refused > free) this.#hold(key, sleep(pauseMs, undefined, { ref: false }));
  }

  #hold(key: string, end: Promise<void>): void {
    const pause = end.then(() => {
      if (this.#pauses.get(key) === pause) this.#pauses.delete(key);
    });
    this.#pauses.set(key, pause);
  }
}

/** What a proxy says of an address may read like anything. */
function keyOf({ viewer, address }: Caller): string {
  return viewer ? `user ${viewer.user.id}` : `address ${address}`;
}
