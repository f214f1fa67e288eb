/** Items that wait, in one queue per caller. The callers take turns, so that a caller with many items delays no other. */
export class FairQueue<Item> {
  readonly #queues = new Map<string, Set<Item>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  sizeOf(caller: string): number {
    return this.#queues.get(caller)?.size ?? 0;
  }

  /** An item that waits already keeps its place. */
  add(caller: string, item: Item): void {
    const queue = this.#queues.get(caller) ?? new Set();
    if (queue.has(item)) return;
    this.#queues.set(caller, queue.add(item));
    this.#size += 1;
  }

  /** Removes the first item of the next caller that `mayTake`, and moves this caller to the end. */
  take(mayTake: (caller: string) => boolean = () => true): Item | undefined {
    for (const [caller, queue] of this.#queues) {
      if (!mayTake(caller)) continue;
      this.#queues.delete(caller);
      this.#queues.set(caller, queue);
      for (const item of queue) {
        this.delete(caller, item);
        return item;
      }
    }
    return undefined;
  }

  delete(caller: string, item: Item): void {
    const queue = this.#queues.get(caller);
    if (!queue?.delete(item)) return;
    this.#size -= 1;
    if (queue.size === 0) this.#queues.delete(caller);
  }
}
