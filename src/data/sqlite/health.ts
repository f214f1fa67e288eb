import { type DatabaseOptions, DatabaseUnavailable } from '../database/database.ts';
import { createFaultReports, type FaultReports } from '../database/fault-reports.ts';
import { FlushFailed, SqliteBusy } from './errors.ts';
import type { SqliteFile } from './file.ts';

type HealthListener = Pick<DatabaseOptions, 'onFault' | 'onRecovery'>;

/**
 * `files`: they are no longer in place. `checkpoint`: the write-ahead log cannot be copied into the database file. `write`:
 * the latest write has failed on the disk.
 */
type FaultKind = 'files' | 'checkpoint' | 'write';

/** Whether the database can be written: its files are still in place, and the latest write did not fail on the disk. */
export class SqliteHealth {
  readonly #file: SqliteFile;
  readonly #listener: HealthListener;
  readonly #reports: FaultReports;
  /** The database's `user_version`; undefined until its files are watched. */
  #id: number | undefined;
  /** The reasons of the present faults. */
  readonly #faults = new Map<FaultKind, string>();

  constructor(file: SqliteFile, listener: HealthListener) {
    this.#file = file;
    this.#listener = listener;
    this.#reports = createFaultReports(listener);
  }

  /** From this call on, the database's files must not be moved, replaced or removed. */
  watch(id: number): void {
    this.#file.watch();
    this.#id = id;
    this.checkFiles();
  }

  get isWritable(): boolean {
    return this.#faults.size === 0;
  }

  /** Whether nothing may be written until a checkpoint has succeeded. */
  get needsCheckpoint(): boolean {
    return !this.#faults.has('files') && this.#faults.has('checkpoint');
  }

  /** Whether another write is needed to find out if writes succeed again. */
  get needsProbe(): boolean {
    return !this.#faults.has('files') && this.#faults.has('write');
  }

  /** Called right before a commit, because data written to a removed file is lost. @throws DatabaseUnavailable */
  assertInPlace(): void {
    if (!this.#faults.has('files') && this.#id !== undefined) this.#setFileFault(this.#file.findPathFault());
    this.assertWritable();
  }

  /** @throws DatabaseUnavailable if the paths do not lead to the files that are open. */
  assertFiles(): void {
    this.checkFiles();
    const fault = this.#faults.get('files');
    if (fault !== undefined) throw new DatabaseUnavailable(fault);
  }

  /** Uses the result of the latest check of the files. @throws DatabaseUnavailable */
  assertWritable(): void {
    const fault = this.#faults.get('files') ?? this.#faults.get('checkpoint');
    if (fault !== undefined) throw new DatabaseUnavailable(fault);
  }

  checkFiles(): void {
    if (this.#id !== undefined) this.#setFileFault(this.#file.findFault(this.#id));
  }

  noteCheckpoint(): void {
    this.#end('checkpoint');
  }

  noteFailedCheckpoint(error: unknown): void {
    if (error instanceof FlushFailed) this.crash(error.reason);
    if (error instanceof SqliteBusy) return;
    const reason = error instanceof DatabaseUnavailable ? error.reason : String(error);
    this.#faults.set('checkpoint', reason);
    this.#reports.reportFault(reason);
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
    this.#end('write');
  }

  /** Records a failed write. One that waited too long, or was refused because of the files, is no fault of the disk. */
  noteFailure(error: unknown): void {
    if (isFault(error) && !this.#faults.has('files') && !this.#faults.has('checkpoint'))
      this.#faults.set('write', error.reason);
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
    if (fault === undefined) return this.#end('files');
    if (fault !== this.#faults.get('files')) this.#reports.reportFault(fault);
    this.#faults.set('files', fault);
  }

  #end(kind: FaultKind): void {
    if (this.#faults.delete(kind) && this.isWritable) this.#reports.reportRecovery();
  }
}

function isFault(error: unknown): error is DatabaseUnavailable {
  return error instanceof DatabaseUnavailable && !(error instanceof SqliteBusy);
}
