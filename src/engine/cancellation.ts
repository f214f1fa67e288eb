/** Tells work to stop, once, and why. An AbortSignal can do the same; one is made for who needs it, which most work does not. */
export class Cancellation {
  isCancelled = false;
  reason: unknown;
  /** Set once something was committed that cannot be undone: the answer must tell of it, so what has begun runs to its end. */
  hasCommitted = false;
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
    // An operation that lasts keeps no empty set.
    if (this.#listeners?.delete(listener) && this.#listeners.size === 0) this.#listeners = undefined;
  }

  toSignal(): AbortSignal {
    const controller = new AbortController();
    this.listen(() => controller.abort(this.reason));
    return controller.signal;
  }

  /** What `work` comes to, unless it is cancelled before anything was committed: then the reason is thrown. */
  race<T>(work: Promise<T>, { onCancel = ignore, dispose = ignore }: RaceOptions<T> = {}): Promise<T> {
    return new Promise((resolve, reject) => {
      const stop = () => {
        if (this.hasCommitted) return;
        onCancel();
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

interface RaceOptions<T> {
  onCancel?: () => void;
  /** Gets what the work comes to after all. */
  dispose?: (late: T) => void;
}

function ignore(): void {}
