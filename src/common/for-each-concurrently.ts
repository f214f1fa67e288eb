/** Runs `work` for each item, for up to `limit` items at the same time. Fails with the first failure. */
export async function forEachConcurrently<T>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  // All loops take their items from one iterator.
  const left = items.values();
  const loops = Array.from({ length: Math.min(limit, items.length) }, async () => {
    for (const item of left) await work(item);
  });
  await Promise.all(loops);
}
