import type { ApolloClient, ErrorLike } from '@apollo/client';
import { useEffect, useState } from 'react';
import { defer, map, type Observable } from 'rxjs';
import { repeatFailed } from './failures.ts';

/** The data of a subscription. It starts again after an error that is not final. */
export function follow<Data>(start: () => Observable<ApolloClient.SubscribeResult<Data>>): Observable<Data> {
  return defer(start).pipe(
    map(({ data, error }) => {
      if (!data) throw error;
      return data;
    }),
    repeatFailed(),
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
