import { useReactiveVar } from '@apollo/client/react';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { client } from './client.ts';
import { MarkReadDocument } from './gql/graphql.ts';
import { joinedRooms, showAsRead } from './inbox.ts';
import { throttle } from './throttle.ts';

/** Each mark counts against the rate of the user, and is an event on all devices of the user. */
const markEveryMs = 3_000;

/** Marks the room as read while the component is mounted and the page is visible. */
export function useReading(room: string): void {
  const unread = useReactiveVar(joinedRooms).find(({ id }) => id === room)?.unread;
  const isVisible = useSyncExternalStore(onVisibilityChange, () => document.visibilityState === 'visible');
  const [marks] = useState(() => throttle(() => markRead(room), markEveryMs));
  useEffect(() => {
    if (!unread || !isVisible) return;
    showAsRead(room);
    marks.request();
  }, [room, unread, isVisible, marks]);
  // A mark that is sent later would include posts that the user has not seen.
  useEffect(() => (isVisible ? marks.flush : undefined), [isVisible, marks]);
}

/** Marks all posts of the room as read. If this fails, the next query of the rooms counts them again. */
function markRead(room: string): void {
  client.mutate({ mutation: MarkReadDocument, variables: { input: { room } } }).catch(() => {});
}

function onVisibilityChange(listener: () => void): () => void {
  document.addEventListener('visibilitychange', listener);
  return () => document.removeEventListener('visibilitychange', listener);
}
