import { type Failure, failureOf } from '@postroom/client';
import { useState } from 'react';

/** The failure in words for the user: most messages of the server are, those of the browser are not. */
export function describe({ code, message, extensions }: Failure): string {
  if (['NO_ANSWER', 'SERVICE_UNAVAILABLE', 'BAD_GATEWAY'].includes(code)) return 'The server cannot be reached.';
  if (code !== 'RATE_LIMITED') return message;
  return `Too many requests: please wait ${Math.ceil(Number(extensions['retryAfterMs'] ?? 0) / 1_000)} seconds.`;
}

/** Runs an action of a form or button, and keeps its failure until the next call. */
export function useAction<Args extends unknown[]>(action: (...args: Args) => Promise<unknown>) {
  const [state, setState] = useState<{ isRunning: boolean; failure?: Failure }>({ isRunning: false });
  function run(...args: Args): void {
    setState({ isRunning: true });
    const fail = (error: unknown) => setState({ isRunning: false, failure: failureOf(error) });
    action(...args).then(() => setState({ isRunning: false }), fail);
  }
  return { ...state, run };
}
