import { type ExecutionResult, GraphQLError, type GraphQLFormattedError } from 'graphql';
import { ClientError, clientErrors, type ErrorCode, withoutTraces } from '../errors.ts';
import type { Log } from '../log.ts';
import { type Rate, RateLimited } from './limits/rate.ts';

/** What leaves over any transport: an execution result whose errors are coded and masked. */
export interface Answer {
  status: number;
  /** What is left of the caller's rate. */
  rate?: Rate | undefined;
  body: {
    data?: ExecutionResult['data'];
    errors?: readonly GraphQLFormattedError[];
    extensions?: Record<string, unknown>;
  };
  /** How many characters the body has as JSON, at least. */
  length?: number;
  /** The body as JSON, where it was needed before. */
  json?: string;
}

export interface AnswerOptions {
  requestId: string;
  log: Log;
  rate?: Rate | undefined;
  /** Something was committed: the answer must not say that nothing was done. */
  hasCommitted?: boolean;
}

/** What came of an operation, or why nothing did; whatever was thrown may stand for an error. */
interface Outcome extends Omit<ExecutionResult, 'errors'> {
  errors?: readonly unknown[] | undefined;
}

const partialSuccess = 294;
const maxMessageLength = 300;

/** An error of the request itself, before anything runs. It knows its place, but does not keep the document's tree. */
export function requestError(code: ErrorCode, message?: string, from?: GraphQLError): GraphQLError {
  const cause = new ClientError(code, message ?? from?.message);
  const place = from && { source: from.source, positions: from.positions };
  // Nobody reads a trace, and one that is not read keeps what its functions ran on.
  return withoutTraces(() => new GraphQLError(cause.message, { ...place, cause }));
}

/**
 * The status tells the outcome: that of the first error where there is no data, never 200 with an error. Where something was
 * committed before the operation failed, it is a partial success: a client that sent it again would do it twice.
 */
export function toAnswer({ data, errors, extensions }: Outcome, options: AnswerOptions): Answer {
  const rate = options.rate ?? findRate(errors?.[0]);
  if (data && !errors && !extensions) return { status: 200, rate, body: { data } };
  const formatted = errors?.map((error) => formatError(error, options));
  const code = formatted?.[0]?.extensions?.['code'] as ErrorCode | undefined;
  const isPartial = options.hasCommitted && code !== undefined && meansNothingDone(code);
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

/** An answer that grew too long is noticed after the commit; any other operation that costs too much never runs. */
function meansNothingDone(code: ErrorCode): boolean {
  return clientErrors[code].status >= 500 || code === 'COST_LIMIT_EXCEEDED';
}

/** One error as every transport sends it; what is not meant for clients is masked and logged under the request's id. */
export function formatError(
  error: unknown,
  { requestId, log, hasCommitted = false }: AnswerOptions,
): GraphQLFormattedError {
  const located = error instanceof GraphQLError ? error : undefined;
  const found = findClientError(error) ?? mask(error, { requestId, log });
  const isLate = hasCommitted && found.code === 'SERVICE_UNAVAILABLE' && located?.path?.length !== 1;
  const cause = isLate ? unreadResult(found) : found;
  return {
    message: shorten(cause.message),
    ...(located?.locations && { locations: located.locations }),
    ...(located?.path && { path: located.path }),
    extensions: {
      code: cause.code,
      ...cause.extras,
      ...(cause.code === 'INTERNAL_SERVER_ERROR' && { requestId }),
    },
  };
}

/** What of an error may be shown, be it the error itself or what caused it. */
export function findClientError(error: unknown): ClientError | undefined {
  if (error instanceof ClientError) return error;
  return error instanceof Error && error.cause !== undefined ? findClientError(error.cause) : undefined;
}

/** Only a root field itself can say that nothing of it was done; what fails beneath it comes after its commit. */
function unreadResult(cause: ClientError): ClientError {
  return new ClientError('INTERNAL_SERVER_ERROR', 'It was done, but its result could not be read.', {}, { cause });
}

function findRate(error: unknown): Rate | undefined {
  return error instanceof RateLimited ? error.rate : undefined;
}

function mask(error: unknown, { requestId, log }: AnswerOptions): ClientError {
  log.error({ requestId, err: error instanceof GraphQLError ? (error.cause ?? error) : error }, 'an operation failed');
  return new ClientError('INTERNAL_SERVER_ERROR');
}

function shorten(message: string): string {
  return message.length > maxMessageLength ? `${message.slice(0, maxMessageLength)}…` : message;
}
