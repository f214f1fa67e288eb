import { hash } from 'node:crypto';
import { FixedWindow } from '../common/fixed-window.ts';

const minIntervalMs = 10_000;

/**
 * The result tells whether a reason must be reported now: once in an interval, so that a fault that repeats does not fill the
 * log. `maxReasons`: further reasons are not reported within the interval; needed if clients choose them.
 */
export function createReportLimit({ intervalMs = minIntervalMs, maxReasons = Number.POSITIVE_INFINITY } = {}) {
  const windowSeconds = intervalMs / 1_000;
  const reported = new FixedWindow({ limit: 1, windowSeconds });
  const all = new FixedWindow({ limit: maxReasons, windowSeconds });
  // A reason may be a text of a client, or a part that keeps its whole header in memory.
  const isNew = (reason: string) => !reported.charge(hash('sha256', reason)).isOver;
  return (reason: string) => !all.charge('', 0).isOver && isNew(reason) && !all.charge('').isOver;
}

const maxLinesPerReason = 20;

/**
 * Limits the log lines of each reason to 20 in ten seconds, so that clients cannot fill the log. The reasons must be few, and
 * must not be chosen by a client. The result is undefined if the line must not be written; otherwise the number of lines that
 * were left out before it.
 */
export function createLineLimit(): (reason: string) => number | undefined {
  const windows = new FixedWindow({ limit: maxLinesPerReason, windowSeconds: minIntervalMs / 1_000 });
  const omitted = new Map<string, number>();
  return (reason) => {
    const before = omitted.get(reason) ?? 0;
    const { isOver } = windows.charge(reason);
    omitted.set(reason, isOver ? before + 1 : 0);
    return isOver ? undefined : before;
  };
}
