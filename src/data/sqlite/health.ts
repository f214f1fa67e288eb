import { DatabaseUnavailable } from '../unavailable.ts';
import type { SqliteFile } from './file.ts';

/** A disk that is full for large writes alone fails and recovers over and over. */
const minLogIntervalMs = 10_000;

export interface HealthListener {
  /** The database does not do what it should, and why, for the operator. At most once in ten seconds for one reason. */
  onFault?: ((reason: string) => void) | undefined;
  /** Writes succeed again after a fault that was reported. */
  onRecovery?: (() => void) | undefined;
}

/** Whether the database can be written: its files are where they were opened, and the latest write did not fail on the disk. */
export class SqliteHealth {
  readonly #file: SqliteFile;
  readonly #listener: HealthListener;
  /** The database's `user_version`; undefined until its files are watched. */
  #id: number | undefined;
  #fileFault: string | undefined;
  #writeFault: string | undefined;
  #reported: { reason: string; at: number } | undefined;
  #isRecoveryDue = false;

  constructor(file: SqliteFile, listener: HealthListener) {
    this.#file = file;
    this.#listener = listener;
  }

  /** From here on the database's files must stay where they are. */
  watch(id: number): void {
    this.#file.watch();
    this.#id = id;
    this.checkFiles();
  }

  get isWritable(): boolean {
    return this.#fileFault === undefined && this.#writeFault === undefined;
  }

  /** Whether only another write can tell if writes succeed again. */
  get needsProbe(): boolean {
    return this.#fileFault === undefined && this.#writeFault !== undefined;
  }

  /** For right before a commit: what is written to a removed file is lost. @throws DatabaseUnavailable */
  assertInPlace(): void {
    if (this.#fileFault === undefined && this.#id !== undefined) this.#setFileFault(this.#file.findFault());
    this.assertWritable();
  }

  /** As of the latest check of the files. @throws DatabaseUnavailable */
  assertWritable(): void {
    if (this.#fileFault !== undefined) throw new DatabaseUnavailable(this.#fileFault);
  }

  checkFiles(): void {
    if (this.#id !== undefined) this.#setFileFault(this.#file.findFaultOrOverwriting(this.#id));
  }

  noteWrite(): void {
    if (this.#writeFault === undefined) return;
    this.#writeFault = undefined;
    this.#reportRecovery();
  }

  /** Why a write failed; one that only had to wait for too long, or was refused because of the files, says nothing about the disk. */
  noteFailure(error: unknown): void {
    if (error instanceof DatabaseUnavailable && !error.isBusy && this.#fileFault === undefined) {
      this.#writeFault = error.reason;
    }
  }

  /** Every error of a statement comes here; until the files are watched, it ends the start, which says so itself. */
  report(error: unknown): void {
    if (this.#id === undefined) return;
    if (error instanceof DatabaseUnavailable && !error.isBusy) this.#reportFault(error.reason);
  }

  #setFileFault(fault: string | undefined): void {
    const previous = this.#fileFault;
    this.#fileFault = fault;
    if (fault !== undefined && fault !== previous) this.#reportFault(fault);
    if (fault === undefined && previous !== undefined) this.#reportRecovery();
  }

  #reportFault(reason: string): void {
    const now = performance.now();
    if (this.#reported?.reason === reason && now - this.#reported.at < minLogIntervalMs) return;
    this.#reported = { reason, at: now };
    this.#isRecoveryDue = true;
    this.#listener.onFault?.(reason);
  }

  #reportRecovery(): void {
    if (!this.#isRecoveryDue || !this.isWritable) return;
    this.#isRecoveryDue = false;
    this.#listener.onRecovery?.();
  }
}
