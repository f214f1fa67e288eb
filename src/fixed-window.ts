export interface WindowOptions {
  /** The maximum number of charges per key and window. */
  limit: number;
  windowSeconds: number;
}

/** The window of one key after a charge. */
export interface Charged {
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

/** The maximum per generation, about 10 MB. Above it, the windows of the previous generation end early. */
const maxWindows = 100_000;

/**
 * Counts charges per key in fixed windows. A window begins with the first charge of its key. The clock is monotonic, so
 * that a change of the system time neither shortens nor extends a window.
 */
export class FixedWindow {
  readonly #limit: number;
  readonly #windowMs: number;
  /** The windows that began in this generation. A generation lasts as long as a window. */
  #current = new Map<string, Window>();
  #previous = new Map<string, Window>();
  #generationEndsAt = 0;

  constructor({ limit, windowSeconds }: WindowOptions) {
    this.#limit = limit;
    this.#windowMs = windowSeconds * 1_000;
  }

  charge(key: string, points = 1): Charged {
    const now = performance.now();
    const window = this.#find(key, now) ?? this.#begin(key, now);
    window.charges += points;
    return {
      isOver: window.charges > this.#limit,
      remaining: Math.max(0, this.#limit - window.charges),
      resetMs: Math.max(1, Math.round(window.endsAt - now)),
    };
  }

  /** Takes one charge back. */
  refund(key: string): void {
    const window = this.#find(key, performance.now());
    if (window && window.charges > 0) window.charges -= 1;
  }

  #find(key: string, now: number): Window | undefined {
    const window = this.#current.get(key) ?? this.#previous.get(key);
    return window && now < window.endsAt ? window : undefined;
  }

  #begin(key: string, now: number): Window {
    if (now >= this.#generationEndsAt || this.#current.size >= maxWindows) {
      // After two generations every window has ended.
      this.#previous = now < this.#generationEndsAt + this.#windowMs ? this.#current : new Map();
      this.#current = new Map();
      this.#generationEndsAt = now + this.#windowMs;
    }
    const window = { charges: 0, endsAt: now + this.#windowMs };
    this.#current.set(key, window);
    return window;
  }
}
