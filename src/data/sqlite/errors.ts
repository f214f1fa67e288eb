import { DatabaseUnavailable, DatabaseUnusable, UniqueViolation } from '../database/database.ts';

/** Another connection is writing, or the turn to write did not come in time. */
export class SqliteBusy extends DatabaseUnavailable {}

/** A file could not be flushed to the disk. A later flush that succeeds proves nothing. */
export class FlushFailed extends DatabaseUnavailable {}

/* Result codes: https://www.sqlite.org/rescode.html. The lowest byte of an extended code is its primary code. */
const busy = 5;
const corrupt = [11, 26];
const flushFailed = 1034;
const uniqueViolations = [1555, 2067];
/** Primary codes that are not caused by the statement. */
const unavailable: Record<number, string> = {
  [busy]: 'SQLITE_BUSY',
  8: 'SQLITE_READONLY',
  10: 'SQLITE_IOERR',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
};

/** An error of SQLite in the terms of `Database`. Any other error stays as it is. */
export function translateSqliteError(error: unknown): unknown {
  if (!isSqliteError(error)) return error;
  const code = error.errcode & 0xff;
  if (uniqueViolations.includes(error.errcode)) return new UniqueViolation({ cause: error });
  if (corrupt.includes(code)) return new DatabaseUnusable(`the database failed: ${error.message}`, { cause: error });
  const name = unavailable[code];
  if (name === undefined) return error;
  const Unavailable = findClass(error.errcode);
  return new Unavailable(`${error.message} (${name}, code ${error.errcode})`, { cause: error });
}

function findClass(errcode: number): typeof DatabaseUnavailable {
  if ((errcode & 0xff) === busy) return SqliteBusy;
  return errcode === flushFailed ? FlushFailed : DatabaseUnavailable;
}

function isSqliteError(error: unknown): error is Error & { errcode: number } {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number';
}
