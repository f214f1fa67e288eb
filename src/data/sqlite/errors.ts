import { DatabaseUnavailable } from '../unavailable.ts';

const busy = 5;
/** Primary result codes that are not caused by the statement: https://www.sqlite.org/rescode.html */
const unavailable: Record<number, string> = {
  [busy]: 'SQLITE_BUSY',
  8: 'SQLITE_READONLY',
  10: 'SQLITE_IOERR',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
};
const uniqueViolations = [1555, 2067];

export function isUniqueViolation(error: unknown): boolean {
  return isSqliteError(error) && uniqueViolations.includes(error.errcode);
}

/** An error of SQLite as the rest of the program handles it: DatabaseUnavailable, or the error itself. */
export function translateError(error: unknown): unknown {
  if (!isSqliteError(error)) return error;
  // The lowest byte of an extended code is its primary code.
  const code = error.errcode & 0xff;
  const name = unavailable[code];
  if (name === undefined) return error;
  const reason = `${error.message} (${name}, code ${error.errcode})`;
  return new DatabaseUnavailable(reason, { isBusy: code === busy, cause: error });
}

/** The reason of an error, for the operator. */
export function reasonOf(error: unknown): string {
  if (error instanceof DatabaseUnavailable) return error.reason;
  return error instanceof Error ? error.message : String(error);
}

function isSqliteError(error: unknown): error is Error & { errcode: number } {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number';
}
