import { ClientError } from '../errors.ts';

/** The database cannot do it now: nothing of it was stored, and nothing of it will be. `reason` is for the operator. */
export class DatabaseUnavailable extends ClientError {
  readonly reason: string;
  /** Whether only another writer was in the way. */
  readonly isBusy: boolean;

  constructor(reason: string, { isBusy = false, cause }: { isBusy?: boolean; cause?: unknown } = {}) {
    super('SERVICE_UNAVAILABLE', undefined, {}, { cause });
    this.name = 'DatabaseUnavailable';
    this.reason = reason;
    this.isBusy = isBusy;
  }
}
