const minIntervalMs = 10_000;

/** The reasons that were reported in the last ten seconds, so that a fault that repeats does not fill the log. */
export class RecentReports {
  /** The time of the last report of each reason, by `performance.now()`. */
  readonly #reportedAt = new Map<string, number>();

  /** Whether the reason must be reported now; if so, it counts as reported. */
  isDue(reason: string): boolean {
    const now = performance.now();
    for (const [known, at] of this.#reportedAt) if (now - at >= minIntervalMs) this.#reportedAt.delete(known);
    if (this.#reportedAt.has(reason)) return false;
    this.#reportedAt.set(reason, now);
    return true;
  }
}
