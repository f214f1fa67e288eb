import { FixedWindow } from '../common/fixed-window.ts';

const minIntervalMs = 10_000;

/** The reasons that were reported recently, so that a fault that repeats does not fill the log. */
export class RecentReports {
  readonly #reported: FixedWindow;
  readonly #reasons: FixedWindow;

  /** `maxReasons`: further reasons are not reported within the interval; needed if clients choose them. */
  constructor({ intervalMs = minIntervalMs, maxReasons = Number.POSITIVE_INFINITY } = {}) {
    const windowSeconds = intervalMs / 1_000;
    this.#reported = new FixedWindow({ limit: 1, windowSeconds });
    this.#reasons = new FixedWindow({ limit: maxReasons, windowSeconds });
  }

  /** Whether the reason must be reported now; if so, it counts as reported. */
  isDue(reason: string): boolean {
    return !this.#reported.charge(reason).isOver && !this.#reasons.charge('').isOver;
  }
}

const maxLinesPerReason = 20;

/**
 * Limits the log lines of each reason to 20 in ten seconds, so that clients cannot fill the log. The reasons must be few,
 * and must not be chosen by a client.
 */
export class LimitedLines {
  readonly #windows = new FixedWindow({ limit: maxLinesPerReason, windowSeconds: minIntervalMs / 1_000 });
  readonly #omitted = new Map<string, number>();

  /** Undefined if the line must not be written; otherwise the number of lines that were left out before it. */
  take(reason: string): number | undefined {
    const omitted = this.#omitted.get(reason) ?? 0;
    const { isOver } = this.#windows.charge(reason);
    this.#omitted.set(reason, isOver ? omitted + 1 : 0);
    return isOver ? undefined : omitted;
  }
}
