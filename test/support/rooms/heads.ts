import { expect } from 'vitest';
import type { Postroom } from '../server/postroom.ts';

/* How often a server, whose LOG_LEVEL is debug, has compared the heads of all open rooms with the log. */

export function comparisonsOf({ log }: Postroom): number {
  return log.filter(({ sql }) => String(sql).includes('known.value ->>')).length;
}

/** Resolves right after a comparison, so that the next one is 1.5 s away. Returns the number of comparisons. */
export async function untilCompared(postroom: Postroom): Promise<number> {
  const compared = comparisonsOf(postroom);
  await expect.poll(() => comparisonsOf(postroom), { interval: 2 }).toBeGreaterThan(compared);
  return comparisonsOf(postroom);
}
