import { createReportLimit } from '../../log/recent-reports.ts';
import type { DatabaseOptions } from './database.ts';

export type FaultReports = ReturnType<typeof createFaultReports>;

/** Reports faults of the database to the operator, and their end. A disk that is full only for large writes repeats both. */
export function createFaultReports({ onFault, onRecovery }: Pick<DatabaseOptions, 'onFault' | 'onRecovery'>) {
  const isDue = createReportLimit();
  return {
    isRecoveryDue: false,
    reportFault(reason: string) {
      if (!isDue(reason)) return;
      this.isRecoveryDue = true;
      onFault?.(reason);
    },
    reportRecovery() {
      if (this.isRecoveryDue) onRecovery?.();
      this.isRecoveryDue = false;
    },
  };
}
