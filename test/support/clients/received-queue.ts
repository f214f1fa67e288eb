/** A queue of received items, in the order of arrival. */
export class ReceivedQueue<T> {
  readonly all: T[] = [];
  #taken = 0;
  #wake: () => void = () => {};
  #describeEnd: (() => string) | undefined;

  push(item: T): void {
    this.all.push(item);
    this.#wake();
  }

  /** Ends the queue: once all items are taken, `next` rejects with this description. */
  close(describeEnd: () => string): void {
    this.#describeEnd ??= describeEnd;
    this.#wake();
  }

  /** The next matching item that was not taken yet; earlier items are skipped. */
  async next(fits: (item: T) => boolean = () => true): Promise<T> {
    for (;;) {
      while (this.#taken < this.all.length) {
        const item = this.all[this.#taken];
        this.#taken += 1;
        if (item !== undefined && fits(item)) return item;
      }
      if (this.#describeEnd) throw new Error(this.#describeEnd());
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async take(count: number): Promise<T[]> {
    const items: T[] = [];
    while (items.length < count) items.push(await this.next());
    return items;
  }
}
