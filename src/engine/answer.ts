import { type ExecutionResult, GraphQLError, type GraphQLFormattedError } from 'graphql';
import { CommitResultLost } from '../data/database.ts';
import { ClientError, clientErrors, type ErrorCode, TracelessError, withoutTraces } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Cancellation } from './cancellation.ts';
import { type Rate, RateLimited } from './limits/rate.ts';

/** The answer that every transport sends: an execution result whose errors are coded and masked. */
export interface Answer {
  status: number;
  /** The caller's remaining rate. */
  rate?: Rate | undefined;
  body: {
    data?: ExecutionResult['data'];
    errors?: readonly GraphQLFormattedError[];
    extensions?: Record<string, unknown>;
  };
  /** A lower bound of the body's characters as JSON. */
  length?: number;
  /** The body as JSON, if it was already serialised: a long one as bytes. */
  json?: string | Buffer;
}

export function jsonOf({ json, body }: Pick<Answer, 'json' | 'body'>): string | Buffer {
  return json ?? JSON.stringify(body);
}

/** The request that an answer belongs to. */
export interface AnsweredRequest {
  requestId: string;
  /** The caller's remaining rate. */
  rate?: Rate | undefined;
  /** `hasCommitted`: something was committed, so the answer must not say that nothing was done. */
  cancellation?: Pick<Cancellation, 'hasCommitted'> | undefined;
}

/** Several errors that refuse one request. */
export class RequestErrors extends TracelessError {
  readonly errors: readonly GraphQLError[];

  constructor(errors: readonly GraphQLError[]) {
    super('The request has errors.');
    this.errors = errors;
  }
}

/** The errors of the answer for a thrown error. */
export function errorsOf(error: unknown): readonly unknown[] {
  return error instanceof RequestErrors ? error.errors : [error];
}

/** The result of an operation, or the errors that prevented it. The errors may be any thrown values. */
interface Outcome extends Omit<ExecutionResult, 'errors'> {
  errors?: readonly unknown[] | undefined;
}

const partialSuccess = 294;
const maxMessageLength = 300;

/**
 * An error of the request itself, before anything runs. It has the error's location, but does not hold the document's
 * tree.
 */
export function requestError(code: ErrorCode, message?: string, from?: GraphQLError): GraphQLError {
  const cause = new ClientError(code, message ?? from?.message);
  const place = from && { source: from.source, positions: from.positions };
  // The stack trace is never read, and an unread trace holds references to its functions.
  return withoutTraces(() => new GraphQLError(cause.message, { ...place, cause }));
}

/**
 * The status states the outcome: without data it is the status of the first error, and 200 is never sent with an error.
 * If something was committed before the operation failed, the status is a partial success, because a client that
 * retries would repeat the change.
 */
export function toAnswer({ data, errors, extensions }: Outcome, request: AnsweredRequest, log: Log): Answer {
  const rate = request.rate ?? findRate(errors?.[0]);
  if (data && !errors && !extensions) return { status: 200, rate, body: { data } };
  const formatted = errors?.map((error) => formatError(error, request, log));
  const code = formatted?.[0]?.extensions?.['code'] as ErrorCode | undefined;
  const isPartial = request.cancellation?.hasCommitted && code !== undefined && impliesNothingCommitted(code);
  const failed = data == null && code !== undefined && !isPartial;
  return {
    status: failed ? clientErrors[code].status : code === undefined ? 200 : partialSuccess,
    ...(rate && { rate }),
    body: {
      ...(formatted && { errors: formatted }),
      ...(data !== undefined && { data }),
      ...(extensions && { extensions }),
    },
  };
}

/** An answer that is too long is detected after the commit; any other operation over the cost limit never runs. */
function impliesNothingCommitted(code: ErrorCode): boolean {
  return clientErrors[code].status >= 500 || code === 'COST_LIMIT_EXCEEDED';
}

/**
 * Formats an error as every transport sends it. An error that is not meant for clients is masked. A fault of the server is
 * logged under the request's id.
 */
function formatError(error: unknown, { requestId, cancellation }: AnsweredRequest, log: Log): GraphQLFormattedError {
  const located = error instanceof GraphQLError ? error : undefined;
  const found = findClientError(error) ?? new ClientError('INTERNAL_SERVER_ERROR', undefined, {}, { cause: error });
  const isLate = cancellation?.hasCommitted && found.code === 'SERVICE_UNAVAILABLE' && located?.path?.length !== 1;
  // Only a root field can fail before its change is done; an error below it occurs after the commit.
  const cause = isLate ? new CommitResultLost({ cause: found }) : found;
  const isOurs = clientErrors[cause.code].status === 500;
  if (isOurs) log.error({ requestId, err: located?.cause ?? error }, 'an operation failed');
  return {
    message: shorten(cause.message),
    ...(located?.locations && { locations: located.locations }),
    ...(located?.path && { path: located.path }),
    extensions: {
      code: cause.code,
      ...cause.extras,
      ...(isOurs && { requestId }),
    },
  };
}

/** The error that a client may see: the error itself or its cause. */
export function findClientError(error: unknown): ClientError | undefined {
  if (error instanceof ClientError) return error;
  return error instanceof Error && error.cause !== undefined ? findClientError(error.cause) : undefined;
}

function findRate(error: unknown): Rate | undefined {
  return error instanceof RateLimited ? error.rate : undefined;
}

function shorten(message: string): string {
  return message.length > maxMessageLength ? `${message.slice(0, maxMessageLength)}…` : message;
}
