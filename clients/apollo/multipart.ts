import type { ApolloClient } from '@apollo/client';
import { defer, retry, tap, throwError, timer } from 'rxjs';
import { roomEvents } from './documents.ts';
import { codeOf } from './errors.ts';

/** The events of a room. When the connection is lost, it subscribes again after the last event. */
export function followRoom(client: ApolloClient, room: string, after: string) {
  return defer(() => client.subscribe({ query: roomEvents, variables: { room, after } })).pipe(
    tap(({ error, extensions }) => {
      if (error) throw error;
      after = (extensions?.['live'] as { cursor: string }).cursor;
    }),
    retry({ delay: (error) => (canReturn(error) ? timer(1_000) : throwError(() => error)) }),
  );
}

const canReturn = (error: unknown) => [undefined, 'SERVICE_UNAVAILABLE'].includes(codeOf(error) as string | undefined);
