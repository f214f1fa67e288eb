import type { DatabaseOptions } from './database.ts';

/** A disk that is full only for large writes fails and recovers repeatedly. */
const minIntervalMs = 10_000;

/** Reports faults of the database to the operator, and their end. */
export class FaultReports {
  readonly #listener: Pick<DatabaseOptions, 'onFault' | 'onRecovery'>;
  /** The time of the last report of each reason, by `performance.now()`. */
  readonly #reportedAt = new Map<string, number>();
  #isRecoveryDue = false;

  constructor(listener: Pick<DatabaseOptions, 'onFault' | 'onRecovery'>) {
    this.#listener = listener;
  }

  get isRecoveryDue(): boolean {
    return this.#isRecoveryDue;
  }

  reportFault(reason: string): void {
    const now = performance.now();
    for (const [known, at] of this.#reportedAt) if (now - at >= minIntervalMs) this.#reportedAt.delete(known);
    if (this.#reportedAt.has(reason)) return;
    this.#reportedAt.set(reason, now);
    this.#isRecoveryDue = true;
    this.#listener.onFault?.(reason);
  }

  reportRecovery(): void {
    if (!this.#isRecoveryDue) return;
    this.#isRecoveryDue = false;
    this.#listener.onRecovery?.();
  }
}
