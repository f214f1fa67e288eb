/** Tells work to stop, once, and why. An AbortSignal can do the same; one is made for who needs it, which most work does not. */
export class Cancellation {
  isCancelled = false;
  reason: unknown;
  #listeners: Set<() => void> | undefined;

  cancel(reason: unknown): void {
    if (this.isCancelled) return;
    this.isCancelled = true;
    this.reason = reason;
    for (const listener of this.#listeners ?? []) listener();
    this.#listeners = undefined;
  }

  /** @throws the reason. */
  throwIfCancelled(): void {
    if (this.isCancelled) throw this.reason;
  }

  /** Calls `listener` when it is cancelled, at once where it is; `forget` takes that back. */
  listen(listener: () => void): void {
    if (this.isCancelled) return listener();
    this.#listeners ??= new Set();
    this.#listeners.add(listener);
  }

  forget(listener: () => void): void {
    this.#listeners?.delete(listener);
  }

  toSignal(): AbortSignal {
    const controller = new AbortController();
    this.listen(() => controller.abort(this.reason));
    return controller.signal;
  }

  /** What `work` comes to, unless it is cancelled first: then its reason is thrown, and `dispose` gets what comes after all. */
  race<T>(work: Promise<T>, dispose: (late: T) => void = ignore): Promise<T> {
    return new Promise((resolve, reject) => {
      const stop = () => {
        reject(this.reason);
        work.then(dispose, ignore);
      };
      this.listen(stop);
      const settle =
        <V>(how: (value: V) => void) =>
        (value: V) => {
          this.forget(stop);
          how(value);
        };
      work.then(settle(resolve), settle(reject));
    });
  }
}

function ignore(): void {}
