/** Replaces the wall clock of this process: `now` is the time of `Date.now()` and `new Date()` in milliseconds since 1970. */
export function replaceDate(now: () => number): void {
  const RealDate = Date;

  class ReplacedDate extends RealDate {
    constructor(...given: [] | [number]) {
      super(...(given.length === 0 ? ([now()] as const) : given));
    }

    static override now(): number {
      return now();
    }
  }

  globalThis.Date = ReplacedDate as DateConstructor;
}
