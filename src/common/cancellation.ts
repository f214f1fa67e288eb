import { ClientError } from '../errors.ts';

/** Stops work once, with a reason. Each operation has one, and it is cheaper than an AbortSignal. */
export class Cancellation {
  isCancelled = false;
  reason: unknown;
  /** Set after a commit, which cannot be undone. The answer must report it, so work that has begun runs to its end. */
  hasCommitted = false;
  #listeners: Set<() => void> | undefined;
  /** The reason of a cancellation during a commit; a commit has an outcome that the answer must report. */
  #delayed: { reason: unknown } | undefined;
  #isCommitting = false;

  cancel(reason: unknown): void {
    if (this.isCancelled) return;
    if (this.#isCommitting) {
      this.#delayed ??= { reason };
      return;
    }
    this.isCancelled = true;
    this.reason = reason;
    for (const listener of this.#listeners ?? []) listener();
    this.#listeners = undefined;
  }

  /** @throws the reason, if it is cancelled. */
  throwIfCancelled(): void {
    if (this.isCancelled) throw this.reason;
  }

  /** From now until `endCommit`, a cancellation is delayed. @throws the reason, if it is already cancelled. */
  beginCommit(): void {
    this.throwIfCancelled();
    this.#isCommitting = true;
  }

  /** `mayBeStored`: the transaction was committed, or it is not known whether it was. */
  endCommit(mayBeStored: boolean): void {
    this.#isCommitting = false;
    this.hasCommitted ||= mayBeStored;
    if (this.#delayed) this.cancel(this.#delayed.reason);
  }

  /** Calls `listener` on cancellation, or at once if it is already cancelled. */
  addListener(listener: () => void): void {
    if (this.isCancelled) return listener();
    this.#listeners ??= new Set();
    this.#listeners.add(listener);
  }

  removeListener(listener: () => void): void {
    // An empty set would be held by a long operation.
    if (this.#listeners?.delete(listener) && this.#listeners.size === 0) this.#listeners = undefined;
  }

  /** Settles as `work` does. If it is cancelled before a commit, it rejects with the reason instead. */
  race<T>(work: Promise<T>, { onCancel = ignore, dispose = ignore }: RaceOptions<T> = {}): Promise<T> {
    return new Promise((resolve, reject) => {
      const stop = () => {
        if (this.hasCommitted) return;
        onCancel();
        reject(this.reason);
        work.then(dispose, ignore);
      };
      this.addListener(stop);
      const settle =
        <V>(how: (value: V) => void) =>
        (value: V) => {
          this.removeListener(stop);
          how(value);
        };
      work.then(settle(resolve), settle(reject));
    });
  }
}

interface RaceOptions<T> {
  onCancel?: () => void;
  /** Receives the result of the work if it arrives after the cancellation. */
  dispose?: (late: T) => void;
}

function ignore(): void {}

/** The reason of an operation whose client has disconnected; it is never sent. */
export class ClientDisconnected extends ClientError {
  constructor() {
    super('SERVICE_UNAVAILABLE', 'The client disconnected.');
  }
}
