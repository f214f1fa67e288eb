import { type ExecutionResult, GraphQLError, type GraphQLFormattedError, OperationTypeNode } from 'graphql';
import type { Cancellation } from '../common/cancellation.ts';
import { yieldWhenDue } from '../common/event-loop.ts';
import { TracelessError, withoutTraces } from '../common/stack-traces.ts';
import { CommitResultLost } from '../data/database/database.ts';
import { ClientError, clientErrors, type ErrorCode, type ErrorExtras } from '../errors.ts';
import type { Log } from '../log/log.ts';
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
  /** The body as JSON, of an operation that ran: a long one as bytes. */
  json?: string | Buffer;
}

export function jsonOf({ json, body }: Pick<Answer, 'json' | 'body'>): string | Buffer {
  return json ?? JSON.stringify(body);
}

/** The JSON between two texts. */
export function wrapJson(answer: Pick<Answer, 'json' | 'body'>, before: string, after: string): string | Buffer {
  const json = jsonOf(answer);
  if (typeof json === 'string') return `${before}${json}${after}`;
  return Buffer.concat([Buffer.from(before), json, Buffer.from(after)]);
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
const maxCauses = 10;

/**
 * An error of the request itself, before anything runs. It has the error's location, but does not hold the document's
 * tree.
 */
export function requestError(
  code: ErrorCode,
  message?: string,
  from?: GraphQLError,
  extras?: ErrorExtras,
): GraphQLError {
  const cause = new ClientError(code, message ?? from?.message, extras);
  const place = from && { source: from.source, positions: from.positions };
  // The stack trace is never read, and an unread trace holds references to its functions.
  return withoutTraces(() => new GraphQLError(cause.message, { ...place, cause }));
}

export function toAnswer({ data, errors, extensions }: Outcome, request: AnsweredRequest, log: Log): Answer {
  const [error] = errors ?? [];
  const rate = request.rate ?? (error instanceof RateLimited ? error.rate : undefined);
  if (data && !errors && !extensions) return { status: 200, rate, body: { data } };
  const formatted = errors?.map((error) => formatError(error, request, log));
  return {
    status: formatted ? statusOf(data, formatted, request) : 200,
    ...(rate && { rate }),
    body: {
      ...(formatted && { errors: formatted }),
      ...(data !== undefined && { data }),
      ...(extensions && { extensions }),
    },
  };
}

/**
 * The status states the outcome: that of the first error if every root field failed, otherwise partial success. After a
 * commit it is always partial success, because a client that retries would repeat the change.
 */
function statusOf(
  data: Outcome['data'],
  errors: readonly GraphQLFormattedError[],
  { cancellation }: AnsweredRequest,
): number {
  const code = errors[0]?.extensions?.['code'] as ErrorCode;
  return cancellation?.hasCommitted || !hasFailed(data, errors) ? partialSuccess : clientErrors[code].status;
}

/** Whether every root field is null because of an error, of the field itself or of a field below it. */
function hasFailed(data: Outcome['data'], errors: readonly GraphQLFormattedError[]): boolean {
  const failed = new Set(errors.map(({ path }) => path?.[0]));
  return Object.entries(data ?? {}).every(([name, value]) => value === null && failed.has(name));
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
  const isServerFault = clientErrors[cause.code].status === 500;
  if (isServerFault) log.error({ requestId, err: located?.cause ?? error }, 'server fault in an operation');
  return {
    message: shorten(cause.message),
    ...(located?.locations && { locations: located.locations }),
    ...(located?.path && { path: located.path }),
    extensions: {
      code: cause.code,
      ...cause.extras,
      ...(isServerFault && { requestId }),
    },
  };
}

/** The error that a client may see: the error itself or its cause. Those of an extension may form a circle, or have no known code. */
export function findClientError(error: unknown, depth = 0): ClientError | undefined {
  if (error instanceof ClientError) return Object.hasOwn(clientErrors, error.code) ? error : undefined;
  return error instanceof Error && depth < maxCauses ? findClientError(error.cause, depth + 1) : undefined;
}

function shorten(message: string): string {
  return message.length > maxMessageLength ? `${message.slice(0, maxMessageLength)}…` : message;
}

/**
 * A mutation's changes are committed before its answer is created, so the error message must say that they were made.
 */
export function answerTooLong(limit: number, type: OperationTypeNode): ClientError {
  const outcome = type === OperationTypeNode.MUTATION ? ' The changes without an error were made.' : '';
  return new ClientError('COST_LIMIT_EXCEEDED', `The answer is longer than ${limit} bytes.${outcome}`);
}

/** The payload of the mutation field `name` made the answer too long. */
export function payloadTooLong(limit: number, name: string): ClientError {
  const outcome = `The change of "${name}" was made, as were those before it without an error; the fields after it did not run.`;
  return new ClientError('COST_LIMIT_EXCEEDED', `The answer is longer than ${limit} bytes. ${outcome}`);
}

/** Answers of at least this many characters are serialised in steps; up to it, JSON.stringify takes less than a millisecond. */
export const longAnswer = 100_000;

const stepLength = 32_768;

/**
 * The JSON of a long answer, created in steps: the event loop runs other work between them. `length`: a lower bound of its
 * characters. They are written into one buffer, because C's allocator keeps the memory of many smaller ones.
 */
export async function toJsonInSteps(body: object, length: number): Promise<Buffer> {
  let json: Buffer = Buffer.alloc(0);
  let [end, lengthSoFar] = [0, 0];
  for (const text of textsOf(body)) {
    await yieldWhenDue();
    lengthSoFar += text.length;
    const needed = end + Buffer.byteLength(text);
    if (needed > json.length) {
      // The characters that follow are probably like those so far.
      const expected = (1.1 * needed * length) / lengthSoFar;
      const longer = Buffer.allocUnsafeSlow(Math.ceil(Math.max(expected, 2 * needed)));
      json.copy(longer, 0, 0, end);
      json = longer;
    }
    end += json.write(text, end);
  }
  return json.subarray(0, end);
}

/** The JSON in texts of at least `stepLength`, except the last. */
function* textsOf(body: object): Generator<string> {
  let text = '';
  for (const part of partsOf(body)) {
    text += part;
    if (text.length < stepLength) continue;
    yield text;
    text = '';
  }
  yield text;
}

/** Parts of the JSON. A part is an object without nested values, a leaf, or punctuation. */
function* partsOf(value: unknown): Generator<string> {
  if (!isSplit(value)) return yield JSON.stringify(value);
  const [open, close] = Array.isArray(value) ? (['[', ']'] as const) : (['{', '}'] as const);
  let before: string = open;
  for (const [name, inner] of Object.entries(value)) {
    if (inner === undefined) continue;
    yield open === '[' ? before : `${before}${JSON.stringify(name)}:`;
    yield* partsOf(inner);
    before = ',';
  }
  yield before === open ? `${open}${close}` : close;
}

/** Whether it is a list, or an object that contains objects or lists. */
function isSplit(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  return Array.isArray(value) || Object.values(value).some((inner) => typeof inner === 'object' && inner !== null);
}
