import { TracelessError } from './common/stack-traces.ts';

interface ErrorKind {
  status: number;
  meaning: string;
  /** What an app should do. */
  action: string;
  /** How the error arrives over a WebSocket, if not in a message of its operation. */
  webSocket?: string;
}

const httpOnly = { webSocket: 'HTTP only' };

/**
 * Every error that a client can receive; docs/errors.md is generated from it.
 * Any error that is not a `ClientError` is masked as INTERNAL_SERVER_ERROR and logged once.
 */
export const clientErrors = {
  BAD_REQUEST: {
    status: 400,
    meaning: 'The HTTP request or its JSON is malformed.',
    action: 'Fix the request.',
    ...httpOnly,
  },
  GRAPHQL_PARSE_FAILED: { status: 400, meaning: 'The document does not parse.', action: 'Fix the document.' },
  UNAUTHENTICATED: {
    status: 401,
    meaning: 'The credentials are missing or not valid.',
    action: 'Sign in again.',
    webSocket: 'message, or close 4403 for the credentials of the socket',
  },
  FORBIDDEN: {
    status: 403,
    meaning: 'The viewer is not allowed to do this.',
    action:
      'Do not repeat it with these credentials. `scope` names a scope that they lack. In a page, its origin must be in `ALLOWED_ORIGINS`.',
  },
  DOCUMENT_NOT_TRUSTED: {
    status: 403,
    meaning: 'The document is not in the list of trusted documents.',
    action: 'Add the document to the list of the server.',
  },
  NOT_FOUND: {
    status: 404,
    meaning: 'The object does not exist, or the viewer may not see it.',
    action: 'Treat the object as deleted.',
  },
  PERSISTED_QUERY_NOT_FOUND: {
    status: 404,
    meaning: 'The server has no document with this hash: send its text, too.',
    action: 'Repeat it with the text. Clients with persisted queries do this themselves.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    meaning: 'The HTTP method is not allowed for this operation.',
    action: 'Use a method that `Allow` lists.',
    ...httpOnly,
  },
  NOT_ACCEPTABLE: {
    status: 406,
    meaning:
      'None of the accepted media types can be produced: accept application/graphql-response+json or application/json.',
    action: 'Accept one of the media types that the message names.',
    ...httpOnly,
  },
  REQUEST_TIMEOUT: {
    status: 408,
    meaning: 'The request did not arrive in time.',
    action: 'Repeat it: nothing was done.',
    ...httpOnly,
  },
  CONFLICT: {
    status: 409,
    meaning: 'The object exists already, was changed in the meantime, or exceeds a limit.',
    action: 'Query the object, and let the user decide. An unchanged request fails again.',
  },
  CURSOR_EXPIRED: {
    status: 410,
    meaning: 'The events after the cursor are no longer available: query the room again.',
    action: 'Query the room again, and subscribe after the `live.cursor` of the error.',
  },
  MEMBERSHIP_REVOKED: {
    status: 403,
    meaning: 'The viewer is no longer a member of the room.',
    action: 'Do not subscribe again.',
  },
  CONNECTION_ENDED: {
    status: 403,
    meaning: 'An operator has ended the connection.',
    action: 'Do not connect again at once.',
    webSocket: 'close 1008',
  },
  ROOM_DELETED: { status: 410, meaning: 'The room was deleted.', action: 'Do not subscribe again.' },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    meaning: 'The body is longer than allowed.',
    action: 'Send less.',
    webSocket: 'close 1009',
  },
  URI_TOO_LONG: { status: 414, meaning: 'The URI is longer than allowed: use POST.', action: 'Use POST.', ...httpOnly },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    meaning: 'The body is not JSON in UTF-8.',
    action: 'Send JSON in UTF-8 as `application/json`, without `Content-Encoding`.',
    ...httpOnly,
  },
  EXPECTATION_FAILED: {
    status: 417,
    meaning: 'The only expectation that can be met is 100-continue.',
    action: 'Do not send this `Expect`.',
    ...httpOnly,
  },
  MISDIRECTED_REQUEST: {
    status: 421,
    meaning: 'The Host is not a name of this server.',
    action: 'Use a name of the server, or set `PUBLIC_URL` on the server.',
    ...httpOnly,
  },
  INVALID_REQUEST: {
    status: 422,
    meaning: 'The JSON is not a GraphQL request.',
    action: 'Fix the request.',
    webSocket: 'message, or close 4400',
  },
  GRAPHQL_VALIDATION_FAILED: {
    status: 422,
    meaning: 'The document is not valid for the schema.',
    action: 'Fix the document.',
  },
  OPERATION_NOT_FOUND: {
    status: 422,
    meaning: 'The document does not have exactly one such operation.',
    action: 'Send the `operationName` of an operation of the document.',
  },
  VARIABLES_INVALID: {
    status: 422,
    meaning: 'The variables do not have the types that the operation declares.',
    action: 'Fix the variables.',
  },
  DEPTH_LIMIT_EXCEEDED: { status: 422, meaning: 'The operation is nested too deeply.', action: 'Select fewer levels.' },
  COST_LIMIT_EXCEEDED: {
    status: 422,
    meaning: 'The operation costs more than allowed.',
    action: 'Select fewer fields or smaller pages.',
  },
  DOCUMENT_LIMIT_EXCEEDED: {
    status: 422,
    meaning: 'The document is too large or too complex.',
    action: 'Split the document.',
  },
  VALIDATION_ERROR: {
    status: 422,
    meaning: 'The input is not valid; `details` lists each field.',
    action: 'Show the user the problems in `details`.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    meaning: 'The viewer has used the idempotency key with another field or other arguments.',
    action: 'Use a new key for each change.',
  },
  CURSOR_INVALID: {
    status: 422,
    meaning: 'The text is not a cursor of this room.',
    action: 'Query the room, and subscribe after its `cursor`.',
  },
  SUBSCRIPTION_LIMIT_EXCEEDED: {
    status: 429,
    meaning: 'There are too many live subscriptions.',
    action: 'End other subscriptions first.',
  },
  RATE_LIMITED: {
    status: 429,
    meaning: 'Too many requests: try again after `retryAfterMs` milliseconds.',
    action: 'Repeat it after `retryAfterMs` milliseconds.',
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    meaning: 'The header fields are longer than allowed.',
    action: 'Send fewer or shorter header fields.',
    ...httpOnly,
  },
  SLOW_CONSUMER: {
    status: 503,
    meaning: 'The stream is too slow to continue: query the room again.',
    action: 'Query the room again, and subscribe after the `live.cursor` of the error.',
  },
  INTERNAL_SERVER_ERROR: {
    status: 500,
    meaning: 'The server failed: `requestId` identifies the error in its log.',
    action: 'Report the `requestId` to the operator. A mutation was done only if the message says so.',
  },
  OUTCOME_UNKNOWN: {
    status: 500,
    meaning: 'The connection to the database was lost during the commit: the change may or may not have been made.',
    action: 'Query the object before you repeat the mutation, or repeat it with its `@idempotent` key.',
  },
  BAD_GATEWAY: {
    status: 502,
    meaning: 'A server that this server depends on failed.',
    action: 'Repeat it after a second or more: nothing was done.',
    webSocket: 'message, or close 1013',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    meaning: 'The server cannot do this now; try again later.',
    action: 'Repeat it after a second or more: nothing was done.',
    webSocket: 'message; for a subscription close 1012 or 1013',
  },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof clientErrors;

/** Other statuses for clients that accept `application/json`: as with Apollo Server, this error is a step of a protocol. */
export const statusAsJson: Partial<Record<ErrorCode, number>> = { PERSISTED_QUERY_NOT_FOUND: 200 };

/** A problem with one field of an input: `field` is its path in the input. */
export interface InputProblem {
  field: string;
  issue: 'required' | 'too_short' | 'too_long' | 'invalid' | 'out_of_range';
}

/** Details of an error in addition to its code and message; they are sent in its GraphQL `extensions`. */
export interface ErrorExtras {
  details?: readonly InputProblem[];
  /** Where a stream can resume: the cursor of its room, or those of all rooms by id, and the room that has failed. */
  live?: { cursor: string } | { room?: string; cursors: Readonly<Record<string, string>> };
  retryAfterMs?: number;
  /** The scope that the credentials lack. */
  scope?: string;
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

/** The code that a client receives for an error. */
export function codeOf(error: unknown): ErrorCode {
  return error instanceof ClientError ? error.code : 'INTERNAL_SERVER_ERROR';
}

/** Creates one error for all problems of an input. */
export function invalidInput(details: readonly InputProblem[]): ClientError {
  const problems = details.map(({ field, issue }) => `${field} ${issue.replaceAll('_', ' ')}`);
  return new ClientError('VALIDATION_ERROR', `The input is not valid: ${problems.join(', ')}.`, { details });
}
