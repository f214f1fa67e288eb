import { ClientError } from '../errors.ts';

/**
 * The database is not available: nothing was stored, and nothing will be stored later. `reason` is for the operator.
 */
export class DatabaseUnavailable extends ClientError {
  readonly reason: string;
  /** Whether the only cause was another writer. */
  readonly isBusy: boolean;

  constructor(reason: string, { isBusy = false, cause }: { isBusy?: boolean; cause?: unknown } = {}) {
    super('SERVICE_UNAVAILABLE', undefined, {}, { cause });
    this.name = 'DatabaseUnavailable';
    this.reason = reason;
    this.isBusy = isBusy;
  }
}
