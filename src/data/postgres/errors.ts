import { DatabaseError } from 'pg';
import { reasonOf } from '../../common/reason-of.ts';
import { DatabaseUnavailable, StatementTooSlow, UniqueViolation } from '../database/database.ts';

/**
 * Why a statement was not executed:
 *
 * - `lost`: the connection ended. A statement before its answer may have been executed.
 * - `busy`: a lock or a connection did not come in time.
 * - `conflict`: the transaction was rolled back in favour of another one; it can run again.
 * - `outdated`: a prepared statement no longer fits its tables, or is gone. It works on a new connection.
 * - `fault`: the server cannot work, or can only be read.
 */
export type Unavailability = 'lost' | 'busy' | 'conflict' | 'outdated' | 'fault';

export class PostgresUnavailable extends DatabaseUnavailable {
  readonly kind: Unavailability;

  constructor(kind: Unavailability, reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.kind = kind;
  }
}

/** Whether a statement has failed for one of these reasons. */
export function isUnavailable(error: unknown, ...kinds: Unavailability[]): error is PostgresUnavailable {
  return error instanceof PostgresUnavailable && kinds.includes(error.kind);
}

const uniqueViolation = '23505';
/**
 * Errors that are not caused by the statement, by their codes or, for a class of errors, the first two characters of them:
 * https://www.postgresql.org/docs/current/errcodes-appendix.html.
 */
const kinds: Record<string, Unavailability> = {
  '25006': 'fault',
  '25P03': 'lost',
  '40001': 'conflict',
  '40P01': 'conflict',
  '55P03': 'busy',
  '57P01': 'lost',
  '57P02': 'lost',
  '57P03': 'lost',
  '57P04': 'lost',
  '57P05': 'lost',
  XX001: 'fault',
  XX002: 'fault',
  '08': 'lost',
  '28': 'fault',
  '3D': 'fault',
  '53': 'fault',
  '58': 'fault',
};
const queryCanceled = '57014';
const unknownStatement = '26000';
const duplicateStatement = '42P05';
const poolerReason =
  'a connection pooler does not keep the prepared statements of its clients apart; PgBouncer needs pool_mode = session, or max_prepared_statements (version 1.21)';

/** An error of PostgreSQL or of the connection to it in the terms of `Database`. Any other error stays as it is. */
export function translatePostgresError(error: unknown): unknown {
  if (error instanceof DatabaseUnavailable) return error;
  if (error instanceof DatabaseError) return translateServerError(error);
  return isConnectionError(error) ? new PostgresUnavailable('lost', reasonOf(error), { cause: error }) : error;
}

/** A connection could not be opened, whatever the reason: a certificate that is not trusted, a missing password. */
export function translateConnectError(error: unknown): DatabaseUnavailable {
  const translated = translatePostgresError(error);
  if (translated instanceof DatabaseUnavailable) return translated;
  return new PostgresUnavailable('fault', reasonOf(error), { cause: error });
}

function translateServerError(error: DatabaseError): Error {
  const { code = '' } = error;
  if (code === uniqueViolation) return new UniqueViolation({ cause: error });
  if (code === queryCanceled) return new StatementTooSlow(`${error.message} (${code})`, { cause: error });
  if (code === duplicateStatement)
    return new PostgresUnavailable('fault', `${poolerReason} (${code})`, { cause: error });
  const kind = isOutdated(error) ? 'outdated' : (kinds[code] ?? kinds[code.slice(0, 2)]);
  if (kind) return new PostgresUnavailable(kind, `${error.message} (${code})`, { cause: error });
  // It contains values of the row, and the error is going to be logged.
  error.detail = undefined;
  return error;
}

/** The texts of messages depend on the language of the server. */
function isOutdated({ code, routine }: DatabaseError): boolean {
  return code === unknownStatement || (code === '0A000' && routine === 'RevalidateCachedQuery');
}

const clientMessages = [
  'Connection terminated',
  'Client has encountered a connection error',
  'Client was closed',
  'timeout expired',
];

function isConnectionError(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  return (
    'syscall' in error ||
    error instanceof AggregateError ||
    clientMessages.some((text) => error.message.startsWith(text))
  );
}
