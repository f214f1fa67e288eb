import { contain } from '../common/contain.ts';

export type Pace = ReturnType<typeof createPace>;

/** Runs work after it was requested, and at most once in each interval. */
export function createPace(intervalMs: number, work: () => unknown, onError: (error: unknown) => void) {
  const contained = contain(work, onError);
  let timer: NodeJS.Timeout | undefined;
  let ranAt = Number.NEGATIVE_INFINITY;
  const run = () => {
    timer = undefined;
    ranAt = performance.now();
    contained();
  };
  return {
    /** The work begins in another turn of the event loop, so that requests of one turn share it. */
    request() {
      timer ??= setTimeout(run, Math.max(0, ranAt + intervalMs - performance.now())).unref();
    },
    stop: () => clearTimeout(timer),
  };
}
