import { RecentReports } from '../../log/recent-reports.ts';
import type { DatabaseOptions } from './database.ts';

/** Reports faults of the database to the operator, and their end. A disk that is full only for large writes repeats both. */
export class FaultReports {
  readonly #listener: Pick<DatabaseOptions, 'onFault' | 'onRecovery'>;
  readonly #recent = new RecentReports();
  isRecoveryDue = false;

  constructor(listener: Pick<DatabaseOptions, 'onFault' | 'onRecovery'>) {
    this.#listener = listener;
  }

  reportFault(reason: string): void {
    if (!this.#recent.isDue(reason)) return;
    this.isRecoveryDue = true;
    this.#listener.onFault?.(reason);
  }

  reportRecovery(): void {
    if (!this.isRecoveryDue) return;
    this.isRecoveryDue = false;
    this.#listener.onRecovery?.();
  }
}
