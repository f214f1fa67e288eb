import { closeSync, openSync, readSync } from 'node:fs';

/* https://www.sqlite.org/fileformat.html#the_write_ahead_log */
const saltOffset = 16;
const saltBytes = 8;

/** The salt of a database's write-ahead log, which changes when the log begins again. */
export function readLogSalt(database: string): string {
  const salt = Buffer.alloc(saltBytes);
  const log = openSync(`${database}-wal`, 'r');
  try {
    readSync(log, salt, 0, saltBytes, saltOffset);
  } finally {
    closeSync(log);
  }
  return salt.toString('hex');
}
