import { CombinedGraphQLErrors } from '@apollo/client';
import { type MonoTypeOperatorFunction, race, retry, throwError, timer } from 'rxjs';
import { reconnected } from './live.ts';

/** The codes with which the server refuses an operation only for now. Its other refusals are final. */
const temporaryCodes = [
  'RATE_LIMITED',
  'SERVICE_UNAVAILABLE',
  'BAD_GATEWAY',
  'REQUEST_TIMEOUT',
  'CURSOR_EXPIRED',
  'SLOW_CONSUMER',
];

/** Undefined if the server has not answered. */
function findRefusal(error: unknown) {
  const extensions = CombinedGraphQLErrors.is(error) ? error.errors[0]?.extensions : undefined;
  return extensions && { code: String(extensions['code']), retryAfterMs: Number(extensions['retryAfterMs']) };
}

/** Repeats after a failure that is not final: after the time that the server names, or when the connection is back. */
export function repeatFailed<Data>(onFailed?: (error: Error) => void): MonoTypeOperatorFunction<Data> {
  return retry({
    resetOnSuccess: true,
    delay: (error, count) => {
      const refusal = findRefusal(error);
      if (refusal && !temporaryCodes.includes(refusal.code)) return throwError(() => error);
      onFailed?.(error);
      if (refusal?.retryAfterMs) return timer(refusal.retryAfterMs);
      return race(timer(Math.min(30_000, 500 * 2 ** count)), reconnected);
    },
  });
}

/** The failure in words for the user: most messages of the server are, those of the browser are not. */
export function describeFailure(error: { message: string }): string {
  const refusal = findRefusal(error);
  if (!refusal || refusal.code === 'SERVICE_UNAVAILABLE') return 'The server cannot be reached.';
  if (refusal.code !== 'RATE_LIMITED') return error.message;
  return `Too many requests: please wait ${Math.ceil(refusal.retryAfterMs / 1_000)} seconds.`;
}
