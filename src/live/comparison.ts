import { CoalescedWork } from '../common/coalesced-work.ts';
import type { Bus } from './bus/bus.ts';
import { Pace } from './pace.ts';

/** Changes by another process must take effect within two seconds. */
const intervalMs = 1_500;
/** The interval while the bus is down. It is also the minimum time between two comparisons that wake-ups cause. */
const oftenMs = 250;

export interface ComparisonParts {
  bus: Pick<Bus, 'isUp' | 'onStateChange'>;
  isNeeded: () => boolean;
  /** Never fails. */
  compare: () => Promise<void>;
  onError: (error: unknown) => void;
}

/** Compares periodically what this process knows with the database, because messages of the bus may have been lost. */
export class Comparison {
  readonly #parts: ComparisonParts;
  #timer: NodeJS.Timeout | undefined;
  readonly #comparing = new CoalescedWork(() => this.#parts.compare());
  readonly #wakeUps: Pace;

  constructor(parts: ComparisonParts) {
    this.#parts = parts;
    this.#wakeUps = new Pace(oftenMs, () => this.#comparing.request(), parts.onError);
    parts.bus.onStateChange(() => this.#restart());
  }

  /** Starts or stops when it is needed, or needed no longer. */
  update(): void {
    if ((this.#timer !== undefined) !== this.#parts.isNeeded()) this.#restart();
  }

  runSoon(): void {
    this.#wakeUps.request();
  }

  #restart(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    const { bus, isNeeded } = this.#parts;
    // A comparison that takes longer is not repeated at once.
    const compare = () => this.#comparing.running ?? this.#comparing.request();
    if (isNeeded()) this.#timer = setInterval(compare, bus.isUp() ? intervalMs : oftenMs).unref();
  }
}
