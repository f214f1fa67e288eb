/** The first items of an order, in this order. There may be many items, and few of them are kept. */
export function firstOf<Item>(
  all: Iterable<Item>,
  limit: number,
  isBefore: (one: Item, other: Item) => boolean,
): Item[] {
  const first: Item[] = [];
  for (const item of all) {
    const last = first.at(-1);
    if (first.length === limit && last && !isBefore(item, last)) continue;
    const index = first.findIndex((other) => isBefore(item, other));
    first.splice(index < 0 ? first.length : index, 0, item);
    if (first.length > limit) first.pop();
  }
  return first;
}
