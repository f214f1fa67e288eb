/**
 * What an app does after an error: `repeat` the operation, after `retryOf`; `query` the room again and subscribe after its
 * cursor; `signIn` again; `show` it, because an unchanged operation fails again; `stop`, because the object is gone.
 */
export type Action = 'repeat' | 'query' | 'signIn' | 'show' | 'stop';

/** An error of an operation, or the end of a stream or of a connection, as any client reports it. */
export interface Failure {
  /** `extensions.code` of the error. `NO_ANSWER`: the connection failed, or the answer is not one of GraphQL. */
  code: string;
  /** For developers; that of `VALIDATION_ERROR` is for users, too. */
  message: string;
  action: Action;
  /** By which an operator finds the refusal, or the line of the log; of `request` always, of others if the error has it. */
  requestId?: string | undefined;
  /** All extensions: `retryAfterMs`, `details`, `scope`, `live`, `requestId`. */
  extensions: Record<string, unknown>;
}

const actions: Record<string, Action> = {
  NO_ANSWER: 'repeat',
  RATE_LIMITED: 'repeat',
  SERVICE_UNAVAILABLE: 'repeat',
  BAD_GATEWAY: 'repeat',
  REQUEST_TIMEOUT: 'repeat',
  OUTCOME_UNKNOWN: 'repeat',
  CURSOR_EXPIRED: 'query',
  SLOW_CONSUMER: 'query',
  CURSOR_INVALID: 'query',
  UNAUTHENTICATED: 'signIn',
  NOT_FOUND: 'stop',
  ROOM_DELETED: 'stop',
  MEMBERSHIP_REVOKED: 'stop',
};

/** The codes of an operation of which nobody knows whether it has changed something. */
const unknownOutcomes = ['NO_ANSWER', 'OUTCOME_UNKNOWN'];

/** The close codes that mean more than a lost connection. */
const closeCodes: Record<number, string> = {
  1008: 'CONNECTION_ENDED',
  1009: 'PAYLOAD_TOO_LARGE',
  4400: 'INVALID_REQUEST',
  4403: 'UNAUTHENTICATED',
};

/** Whether a client of graphql-ws may connect again after this close code: the server is away, or too busy. */
export const isTemporary = (code?: number): boolean =>
  code === undefined || [1000, 1001, 1005, 1006, 1012, 1013, 1014, 4408, 4499].includes(code);

interface GraphQLErrorLike {
  message: string;
  extensions?: Record<string, unknown>;
}

/**
 * The error of an operation or the end of a stream, as reported by graphql-ws, graphql-sse, Apollo Client, urql, Relay,
 * graphql-request or `request`.
 */
export function failureOf(error: unknown): Failure {
  // biome-ignore lint/suspicious/noExplicitAny: each client has an error of its own.
  const given = error as any;
  const errors: GraphQLErrorLike[] | undefined = [
    given,
    given?.errors,
    given?.graphQLErrors,
    given?.response?.errors,
    given?.source?.errors,
  ].find((list) => Array.isArray(list) && list.length > 0);
  const { message, extensions = {} } = errors?.[0] ?? { message: given?.reason || given?.message || 'no answer' };
  const code = String(extensions['code'] ?? given?.extensions?.code ?? closeCodes[given?.code] ?? 'NO_ANSWER');
  const requestId = given?.requestId ?? extensions['requestId'];
  return { code, message, action: actions[code] ?? 'show', requestId, extensions };
}

/**
 * When a failed operation may be repeated, in milliseconds; undefined if it must not be. `isSafe`: it is a query, or a
 * mutation with a key of `@idempotent`, so that it can be repeated although it may have been done. `attempt` counts from 0.
 */
export function retryOf(
  error: unknown,
  { isSafe = false, attempt = 0 }: { isSafe?: boolean; attempt?: number } = {},
): number | undefined {
  const { code, action, extensions } = failureOf(error);
  if (action !== 'repeat' || (!isSafe && (unknownOutcomes.includes(code) || isPartial(error)))) return undefined;
  // Random, because all clients lose a server in the same moment.
  const pause = (0.5 + Math.random() / 2) * Math.min(30_000, 1_000 * 2 ** attempt);
  return Math.max(pause, Number(extensions['retryAfterMs'] ?? 0));
}

/** 294: some root fields have results, so a part of the mutations was done. */
function isPartial(error: unknown): boolean {
  const { status, response } = (error ?? {}) as { status?: number; response?: { status?: number } };
  return (status ?? response?.status) === 294;
}
