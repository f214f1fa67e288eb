/**
 * Every error that a client can receive: its code, its HTTP status and its meaning.
 * Any error that is not a `ClientError` is masked as INTERNAL_SERVER_ERROR and logged once.
 */
export const clientErrors = {
  BAD_REQUEST: { status: 400, meaning: 'The HTTP request or its JSON is malformed.' },
  GRAPHQL_PARSE_FAILED: { status: 400, meaning: 'The document does not parse.' },
  UNAUTHENTICATED: { status: 401, meaning: 'The credentials are missing or not valid.' },
  FORBIDDEN: { status: 403, meaning: 'The viewer is not allowed to do this.' },
  DOCUMENT_NOT_TRUSTED: { status: 403, meaning: 'The document is not in the list of trusted documents.' },
  NOT_FOUND: { status: 404, meaning: 'The object does not exist, or the viewer may not see it.' },
  PERSISTED_QUERY_NOT_FOUND: { status: 404, meaning: 'The server has no document with this hash: send its text, too.' },
  METHOD_NOT_ALLOWED: { status: 405, meaning: 'The HTTP method is not allowed for this operation.' },
  NOT_ACCEPTABLE: { status: 406, meaning: 'None of the accepted media types can be produced.' },
  REQUEST_TIMEOUT: { status: 408, meaning: 'The request did not arrive in time.' },
  CONFLICT: { status: 409, meaning: 'The object exists already, was changed in the meantime, or exceeds a limit.' },
  CURSOR_EXPIRED: {
    status: 410,
    meaning: 'The events after the cursor are no longer available: query the room again.',
  },
  MEMBERSHIP_REVOKED: { status: 403, meaning: 'The viewer is no longer a member of the room.' },
  ROOM_DELETED: { status: 410, meaning: 'The room was deleted.' },
  PAYLOAD_TOO_LARGE: { status: 413, meaning: 'The body is longer than allowed.' },
  URI_TOO_LONG: { status: 414, meaning: 'The URI is longer than allowed: use POST.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, meaning: 'The body is not JSON in UTF-8.' },
  EXPECTATION_FAILED: { status: 417, meaning: 'The only expectation that can be met is 100-continue.' },
  MISDIRECTED_REQUEST: { status: 421, meaning: 'The Host is not a name of this server.' },
  INVALID_REQUEST: { status: 422, meaning: 'The JSON is not a GraphQL request.' },
  GRAPHQL_VALIDATION_FAILED: { status: 422, meaning: 'The document is not valid for the schema.' },
  OPERATION_NOT_FOUND: { status: 422, meaning: 'The document does not have exactly one such operation.' },
  VARIABLES_INVALID: { status: 422, meaning: 'The variables do not have the types that the operation declares.' },
  DEPTH_LIMIT_EXCEEDED: { status: 422, meaning: 'The operation is nested too deeply.' },
  COST_LIMIT_EXCEEDED: { status: 422, meaning: 'The operation costs more than allowed.' },
  DOCUMENT_LIMIT_EXCEEDED: { status: 422, meaning: 'The document is too large or too complex.' },
  VALIDATION_ERROR: { status: 422, meaning: 'The input is not valid; `details` lists each field.' },
  CURSOR_INVALID: { status: 422, meaning: 'The text is not a cursor of this room.' },
  SUBSCRIPTION_LIMIT_EXCEEDED: { status: 429, meaning: 'There are too many live subscriptions.' },
  RATE_LIMITED: { status: 429, meaning: 'Too many requests: try again after `retryAfterMs` milliseconds.' },
  HEADERS_TOO_LARGE: { status: 431, meaning: 'The header fields are longer than allowed.' },
  SLOW_CONSUMER: { status: 503, meaning: 'The stream is too slow to continue: query the room again.' },
  INTERNAL_SERVER_ERROR: { status: 500, meaning: 'The server failed: `requestId` identifies the error in its log.' },
  OUTCOME_UNKNOWN: {
    status: 500,
    meaning: 'The connection to the database was lost during the commit: the change may or may not have been made.',
  },
  BAD_GATEWAY: { status: 502, meaning: 'A server that this server depends on failed.' },
  SERVICE_UNAVAILABLE: { status: 503, meaning: 'The server cannot do this now; try again later.' },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type ErrorCode = keyof typeof clientErrors;

/** A problem with one field of an input: `field` is its path in the input. */
export interface InputProblem {
  field: string;
  issue: 'required' | 'too_short' | 'too_long' | 'invalid' | 'out_of_range';
}

/** Details of an error in addition to its code and message; they are sent in its GraphQL `extensions`. */
export interface ErrorExtras {
  details?: readonly InputProblem[];
  live?: { cursor: string };
  retryAfterMs?: number;
  /** The scope that the credentials lack. */
  scope?: string;
}

/** An error without a stack trace: nobody reads the trace, and it costs more than the rest of a refusal. */
export class TracelessError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, options);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** The last case of a `switch` that lists every kind: the compiler refuses it if a kind is missing. */
export function assertNever(value: never): never {
  throw new Error(`Unexpected kind: ${JSON.stringify(value)}`);
}

/** Runs `work` without stack traces for the errors it creates; a trace takes 20 to 50 µs. */
export function withoutTraces<Result>(work: () => Result): Result {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return work();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** An error whose code, message and extras may be shown to the client. */
export class ClientError extends TracelessError {
  readonly code: ErrorCode;
  readonly extras: ErrorExtras;

  constructor(
    code: ErrorCode,
    message: string = clientErrors[code].meaning,
    extras: ErrorExtras = {},
    options: ErrorOptions = {},
  ) {
    super(message, options);
    this.name = 'ClientError';
    this.code = code;
    this.extras = extras;
  }
}

/** Creates one error for all problems of an input. */
export function invalidInput(details: readonly InputProblem[]): ClientError {
  const problems = details.map(({ field, issue }) => `${field} ${issue.replaceAll('_', ' ')}`);
  return new ClientError('VALIDATION_ERROR', `The input is not valid: ${problems.join(', ')}.`, { details });
}
