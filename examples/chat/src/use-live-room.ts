import { type ApolloClient, CombinedGraphQLErrors, type ErrorLike } from '@apollo/client';
import { useApolloClient, useQuery } from '@apollo/client/react';
import { useEffect, useState } from 'react';
import { defer, map, type Observable, retry, switchMap, throwError, timer } from 'rxjs';
import { RoomDocument, RoomEventsDocument } from './gql/graphql.ts';
import { applyEvent, type RoomEvent, updateRoom } from './room.ts';

const repeatedCodes: unknown[] = ['SERVICE_UNAVAILABLE', 'RATE_LIMITED', 'CURSOR_EXPIRED', 'SLOW_CONSUMER'];

/** A room that its events keep up to date while the component is mounted. */
export function useLiveRoom(id: string) {
  const client = useApolloClient();
  const { data } = useQuery(RoomDocument, { variables: { id }, fetchPolicy: 'cache-only' });
  const [error, setError] = useState<ErrorLike>();
  useEffect(() => {
    const apply = (event: RoomEvent) => updateRoom(client.cache, id, (room) => applyEvent(room, event));
    const subscription = followRoom(client, id).subscribe({ next: apply, error: setError });
    return () => subscription.unsubscribe();
  }, [client, id]);
  return { room: data?.room, error };
}

/** Queries the room, then delivers its events since the query. It starts again after an error that is not final. */
function followRoom(client: ApolloClient, room: string): Observable<RoomEvent> {
  const query = () => client.query({ query: RoomDocument, variables: { id: room }, fetchPolicy: 'network-only' });
  const subscribe = (after = '') => client.subscribe({ query: RoomEventsDocument, variables: { room, after } });
  return defer(query).pipe(
    switchMap(({ data }) => subscribe(data?.room?.cursor)),
    map(({ data, error }) => {
      if (!data) throw error;
      return data.roomEvents;
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
