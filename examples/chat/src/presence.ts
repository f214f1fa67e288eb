import { useCallback, useEffect, useRef } from 'react';
import { client } from './client.ts';
import { follow, useStream } from './follow.ts';
import { RoomPresenceDocument, type RoomPresenceSubscription, SetTypingDocument } from './gql/graphql.ts';

export type Presence = RoomPresenceSubscription['roomPresence'];

const repeatTypingMs = 3_000; // the server forgets it after five seconds

/** The people in the room. The viewer is one of them while the component is mounted. */
export function usePresence(room: string): Presence | undefined {
  return useStream(followPresence, room).data?.roomPresence;
}

function followPresence(room: string) {
  return follow(() => client.subscribe({ query: RoomPresenceDocument, variables: { room }, fetchPolicy: 'no-cache' }));
}

/**
 * Tells the others that the viewer is typing, until the text is empty or the component is unmounted. `report` is called
 * with each change of the text, `reset` when it is sent, with which the server ends the typing.
 */
export function useTyping(room: string) {
  const reportedAt = useRef(0);
  function report(text: string) {
    if (!text) return stop();
    if (Date.now() - reportedAt.current < repeatTypingMs) return;
    reportedAt.current = Date.now();
    setTyping(room, true);
  }
  function reset() {
    reportedAt.current = 0;
  }
  const stop = useCallback(() => {
    if (reportedAt.current) setTyping(room, false);
    reportedAt.current = 0;
  }, [room]);
  useEffect(() => stop, [stop]);
  return { report, reset };
}

function setTyping(room: string, typing: boolean): void {
  client.mutate({ mutation: SetTypingDocument, variables: { input: { room, typing } } }).catch(() => {});
}
