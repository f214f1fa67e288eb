import { LRUCache } from 'lru-cache';
import type { Channel } from './channel.ts';
import { SharedCounts } from './shared-counts.ts';

export interface WindowOptions {
  /** The maximum number of charges per key and window. */
  limit: number;
  windowSeconds: number;
}

/** The window of one key after a charge. */
export interface Charged extends WindowOptions {
  charges: number;
  isOver: boolean;
  remaining: number;
  /** The time until the window ends. */
  resetMs: number;
}

interface Window {
  charges: number;
  /** By performance.now(). */
  endsAt: number;
}

/** About 20 MB. Above it, the windows that were charged least recently end early. */
const maxWindows = 100_000;

/**
 * Counts charges per key in fixed windows. A window begins with the first charge of its key. The clock is monotonic, so
 * that a change of the system time neither shortens nor extends a window.
 */
export class FixedWindow {
  readonly #options: WindowOptions;
  readonly #windowMs: number;
  readonly #windows: LRUCache<string, Window>;
  readonly #shared: SharedCounts<Charged> | undefined;

  /** With `parent`, its workers count together, by this `name`. */
  constructor({ limit, windowSeconds }: WindowOptions, name = '', parent?: Channel) {
    this.#options = { limit, windowSeconds };
    this.#windowMs = windowSeconds * 1_000;
    // With `max` instead of `maxSize` the cache would allocate memory for all windows at once.
    this.#windows = new LRUCache({ maxSize: maxWindows, sizeCalculation: () => 1 });
    const adopt = (key: string, { charges, resetMs }: Charged) => void this.adopt(key, charges, resetMs);
    this.#shared = parent && new SharedCounts(parent, 'charge', { name, windowSeconds }, adopt);
  }

  charge(key: string, points = 1): Charged {
    const now = performance.now();
    const window = this.#find(key, now) ?? { charges: 0, endsAt: now + this.#windowMs };
    if (window.charges === 0 && points > 0) this.#windows.set(key, window);
    window.charges += points;
    // What is refused costs the others nothing.
    if (points > 0 && window.charges <= this.#options.limit) this.#shared?.add(key, points);
    return this.#describe(window, now);
  }

  /**
   * Takes over the count of a key from a counter that several nodes share. It may include fewer charges of this node
   * than are counted here, because the answers to the latest charges are on their way. Returns the shared window.
   */
  adopt(key: string, charges: number, resetMs: number): Charged {
    const now = performance.now();
    const endsAt = now + resetMs;
    const window = this.#find(key, now);
    const isSame = window && endsAt < window.endsAt + this.#windowMs / 2;
    this.#windows.set(key, { charges: isSame ? Math.max(charges, window.charges) : charges, endsAt });
    return this.#describe({ charges, endsAt }, now);
  }

  #describe({ charges, endsAt }: Window, now: number): Charged {
    const { limit, windowSeconds } = this.#options;
    return {
      charges,
      limit,
      windowSeconds,
      isOver: charges > limit,
      remaining: Math.max(0, limit - charges),
      resetMs: Math.max(1, Math.round(endsAt - now)),
    };
  }

  #find(key: string, now: number): Window | undefined {
    const window = this.#windows.get(key);
    return window && now < window.endsAt ? window : undefined;
  }
}
