import { type DatabaseOptions, DatabaseUnavailable } from '../database/database.ts';
import { FaultReports } from '../database/fault-reports.ts';
import { FlushFailed, SqliteBusy } from './errors.ts';
import type { SqliteFile } from './file.ts';

type HealthListener = Pick<DatabaseOptions, 'onFault' | 'onRecovery'>;

/** Whether the database can be written: its files are still in place, and the latest write did not fail on the disk. */
export class SqliteHealth {
  readonly #file: SqliteFile;
  readonly #listener: HealthListener;
  readonly #reports: FaultReports;
  /** The database's `user_version`; undefined until its files are watched. */
  #id: number | undefined;
  #fileFault: string | undefined;
  #writeFault: string | undefined;
  /** The reason why the write-ahead log cannot be copied into the database file. */
  #checkpointFault: string | undefined;

  constructor(file: SqliteFile, listener: HealthListener) {
    this.#file = file;
    this.#listener = listener;
    this.#reports = new FaultReports(listener);
  }

  /** From this call on, the database's files must not be moved, replaced or removed. */
  watch(id: number): void {
    this.#file.watch();
    this.#id = id;
    this.checkFiles();
  }

  get isWritable(): boolean {
    return this.#fileFault === undefined && this.#writeFault === undefined && this.#checkpointFault === undefined;
  }

  /** Whether nothing may be written until a checkpoint has succeeded. */
  get needsCheckpoint(): boolean {
    return this.#fileFault === undefined && this.#checkpointFault !== undefined;
  }

  /** Whether another write is needed to find out if writes succeed again. */
  get needsProbe(): boolean {
    return this.#fileFault === undefined && this.#writeFault !== undefined;
  }

  /** Called right before a commit, because data written to a removed file is lost. @throws DatabaseUnavailable */
  assertInPlace(): void {
    if (this.#fileFault === undefined && this.#id !== undefined) this.#setFileFault(this.#file.findPathFault());
    this.assertWritable();
  }

  /** @throws DatabaseUnavailable if the paths do not lead to the files that are open. */
  assertFiles(): void {
    this.checkFiles();
    if (this.#fileFault !== undefined) throw new DatabaseUnavailable(this.#fileFault);
  }

  /** Uses the result of the latest check of the files. @throws DatabaseUnavailable */
  assertWritable(): void {
    const fault = this.#fileFault ?? this.#checkpointFault;
    if (fault !== undefined) throw new DatabaseUnavailable(fault);
  }

  checkFiles(): void {
    if (this.#id !== undefined) this.#setFileFault(this.#file.findFault(this.#id));
  }

  noteCheckpoint(): void {
    if (this.#checkpointFault === undefined) return;
    this.#checkpointFault = undefined;
    this.#reportRecovery();
  }

  noteFailedCheckpoint(error: unknown): void {
    if (error instanceof FlushFailed) this.crash(error.reason);
    if (error instanceof SqliteBusy) return;
    this.#checkpointFault = error instanceof DatabaseUnavailable ? error.reason : String(error);
    this.#reports.reportFault(this.#checkpointFault);
  }

  /**
   * Ends the process without closing the database, after a flush has failed: SQLite would copy the write-ahead log as it is.
   * The next start recovers the log, also while another process has the file open and with it the index of the log.
   */
  crash(reason: string): never {
    // A command has no log.
    const { onFault = (line) => process.stderr.write(`postroom: ${line}\n`) } = this.#listener;
    onFault(`${reason}: the process ends, and the next start recovers the database`);
    try {
      this.#file.clearIndex();
    } catch {
      // The next start does so, too.
    }
    process.kill(process.pid, 'SIGKILL');
    // The system ignores that signal from the first process of a container.
    process.abort();
  }

  noteWrite(): void {
    if (this.#writeFault === undefined) return;
    this.#writeFault = undefined;
    this.#reportRecovery();
  }

  /** Records a failed write. One that waited too long, or was refused because of the files, is no fault of the disk. */
  noteFailure(error: unknown): void {
    if (isFault(error) && this.#fileFault === undefined && this.#checkpointFault === undefined)
      this.#writeFault = error.reason;
  }

  /**
   * Called for every error of a statement. Before the files are watched, an error fails the start, which reports it
   * itself.
   */
  report(error: unknown): void {
    if (error instanceof FlushFailed) this.crash(error.reason);
    if (this.#id !== undefined && isFault(error)) this.#reports.reportFault(error.reason);
  }

  #setFileFault(fault: string | undefined): void {
    const previous = this.#fileFault;
    this.#fileFault = fault;
    if (fault !== undefined && fault !== previous) this.#reports.reportFault(fault);
    if (fault === undefined && previous !== undefined) this.#reportRecovery();
  }

  #reportRecovery(): void {
    if (this.isWritable) this.#reports.reportRecovery();
  }
}

function isFault(error: unknown): error is DatabaseUnavailable {
  return error instanceof DatabaseUnavailable && !(error instanceof SqliteBusy);
}
