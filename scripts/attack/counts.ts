import type { Reply } from './http-client.ts';

/** Counts equal names: `2 × 200, 1 × RATE_LIMITED`. */
export function formatCounts(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => `${count} × ${name}`).join(', ');
}

/** The code of the error, or the status of an answer without an error. */
export function outcomeOf({ code, status }: Reply): string {
  return code ?? String(status);
}
