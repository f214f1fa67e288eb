import type { ApolloClient } from '@apollo/client';
import { retryOf } from '@postroom/client';
import { defer, retry, tap, throwError, timer } from 'rxjs';
import { roomEvents } from './documents.ts';

/** The events of a room. When the connection is lost, it subscribes again after the last event. */
export function followRoom(client: ApolloClient, room: string, after: string) {
  return defer(() => client.subscribe({ query: roomEvents, variables: { room, after } })).pipe(
    tap(({ error, extensions }) => {
      if (error) throw error;
      after = (extensions?.['live'] as { cursor: string }).cursor;
    }),
    retry({ delay: waitFor, resetOnSuccess: true }),
  );
}

function waitFor(error: unknown, count: number) {
  const ms = retryOf(error, { isSafe: true, attempt: count - 1 });
  return ms === undefined ? throwError(() => error) : timer(ms);
}
