import { FairLimit } from '../../fair-limit.ts';

/** An operation that costs more counts as costly: few run at a time, and their root fields run one after the other. */
export const costlyFrom = 1_000;

/** Each costly operation may hold as much memory as the longest answer. */
export function limitCostlyOperations(): FairLimit {
  return new FairLimit({ maxRunning: 4 });
}
