/**
 * Promises that settle one at a time, ordered by their `order` and not by their creation. All work caused by a promise
 * is finished before the next promise settles. Two executions that do the same work therefore have the same order,
 * regardless of the number of microtasks that each of them takes.
 */
export class Ticking {
  readonly #pending: { order: number; settle: () => void }[] = [];
  ticks = 0;

  promise<T>(order: number, make: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const settle = () => {
        try {
          resolve(make());
        } catch (error) {
          reject(error);
        }
      };
      this.#pending.push({ order, settle });
    });
  }

  /**
   * Runs until `execution` has settled and no promise is pending. While none is pending, the execution may have yielded
   * to the event loop. `onTick` is called after each settled promise.
   */
  async run(execution: Promise<unknown>, onTick: (ticks: number) => void = () => {}): Promise<void> {
    let isSettled = false;
    const settled = () => {
      isSettled = true;
    };
    execution.then(settled, settled);
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      const next = this.#takeFirst();
      if (!next && isSettled) return;
      if (!next) continue;
      this.ticks += 1;
      next.settle();
      await new Promise((resolve) => setImmediate(resolve));
      onTick(this.ticks);
    }
  }

  #takeFirst() {
    let first = 0;
    for (let index = 1; index < this.#pending.length; index += 1) {
      if ((this.#pending[index]?.order ?? 0) < (this.#pending[first]?.order ?? 0)) first = index;
    }
    return this.#pending.splice(first, 1)[0];
  }
}
