import { type ApolloClient, CombinedGraphQLErrors, type ErrorLike } from '@apollo/client';
import { useEffect, useState } from 'react';
import { defer, map, type Observable, retry, throwError, timer } from 'rxjs';

const repeatedCodes: unknown[] = ['SERVICE_UNAVAILABLE', 'RATE_LIMITED', 'CURSOR_EXPIRED', 'SLOW_CONSUMER'];

/** The data of a subscription. It starts again after an error that is not final. */
export function follow<Data>(start: () => Observable<ApolloClient.SubscribeResult<Data>>): Observable<Data> {
  return defer(start).pipe(
    map(({ data, error }) => {
      if (!data) throw error;
      return data;
    }),
    retry({
      resetOnSuccess: true,
      delay: (error, count) => {
        const { code, retryAfterMs } = (CombinedGraphQLErrors.is(error) && error.errors[0]?.extensions) || {};
        if (code && !repeatedCodes.includes(code)) return throwError(() => error);
        return timer(Number(retryAfterMs ?? Math.min(30_000, 500 * 2 ** count)));
      },
    }),
  );
}

/** Follows a stream while the component is mounted: its latest data, or the error that ended it. */
export function useStream<Data>(start: (id: string) => Observable<Data>, id = '') {
  const [state, setState] = useState<{ data?: Data; error?: ErrorLike }>({});
  useEffect(() => {
    const subscription = start(id).subscribe({
      next: (data) => setState({ data }),
      error: (error) => setState({ error }),
    });
    return () => subscription.unsubscribe();
  }, [start, id]);
  return state;
}
