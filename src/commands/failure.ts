import { BadSetting } from '../config/bad-setting.ts';
import { BackupError } from '../data/database/backup.ts';
import { DatabaseUnavailable, DatabaseUnusable } from '../data/database/database.ts';
import { ClientError } from '../errors.ts';
import { InputUnreadable } from '../import/read-batches.ts';
import { BusUnreachable } from '../live/bus/bus.ts';

const systemFailures: Record<string, string> = {
  EADDRINUSE: 'the address is in use',
  EACCES: 'permission denied',
  EADDRNOTAVAIL: 'the address is not one of this machine',
  ENOENT: 'there is no such file',
  EEXIST: 'it is not a folder',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of the path is not a folder',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  Z_DATA_ERROR: 'its gzip data is damaged',
  Z_BUF_ERROR: 'its gzip data ends too early',
};

/** The arguments of a command are wrong: its usage is printed, and its exit status is 1. */
export class WrongArguments extends Error {
  constructor(usage: string) {
    super(`usage: postroom ${usage}`);
  }
}

/** Errors whose messages are sentences for the operator. */
const forOperators = [BadSetting, BackupError, BusUnreachable, ClientError, WrongArguments];

/** One line for the operator per error. An unexpected error is printed with its stack. */
export function explainFailures(error: unknown): string[] {
  return error instanceof AggregateError ? error.errors.map(explainFailure) : [explainFailure(error)];
}

function explainFailure(error: unknown): string {
  if (error instanceof DatabaseUnusable) return `the database cannot be used: ${error.message}`;
  if (error instanceof DatabaseUnavailable) return `the database cannot be used: ${error.reason}`;
  if (forOperators.some((type) => error instanceof type)) return (error as Error).message;
  // Its message names the file already, so the message of the system adds nothing.
  if (error instanceof InputUnreadable)
    return `${error.message}: ${explainSystemFailure(error.cause) ?? explainFailure(error.cause)}`;
  const known = explainSystemFailure(error);
  if (known !== undefined && error instanceof Error) return `${known}: ${error.message.replaceAll('\n', ' ')}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function explainSystemFailure(error: unknown): string | undefined {
  if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) return undefined;
  return systemFailures[error.code] ?? (error.code.startsWith('ERR_PARSE_ARGS') ? 'wrong arguments' : undefined);
}
