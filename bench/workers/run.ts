import { availableParallelism } from 'node:os';

/** What all rows of a run share. */
export interface Run {
  /** The numbers of processes that are compared; the first is 1. */
  counts: readonly number[];
  rounds: number;
  seconds: number;
  /** Of the rows `deliveries` and `kill`, instead of their own. */
  clients?: number;
}

/** 1, 2, 4 and so on, up to the number of processors. */
export function defaultCounts(): number[] {
  const counts = [1, 2];
  while ((counts.at(-1) ?? 2) * 2 <= availableParallelism()) counts.push((counts.at(-1) ?? 2) * 2);
  return counts;
}
