import { BadSetting } from '../config.ts';
import { DatabaseUnusable } from '../data/database.ts';

const systemFailures: Record<string, string> = {
  EADDRINUSE: 'the address is in use',
  EACCES: 'permission denied',
  EADDRNOTAVAIL: 'the address is not one of this machine',
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of the path is not a folder',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

/** One line for the operator; what nobody foresaw keeps its stack. */
export function explainFailure(error: unknown): string {
  if (error instanceof BadSetting || error instanceof DatabaseUnusable) return error.message;
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') {
    const known = systemFailures[error.code];
    if (known) return `${known}: ${error.message}`;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
