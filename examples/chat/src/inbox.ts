import { makeVar } from '@apollo/client';
import { from, Observable, repeat, switchMap, takeUntil, takeWhile } from 'rxjs';
import { client } from './client.ts';
import { follow } from './follow.ts';
import {
  InboxDocument,
  type InboxSubscription,
  type JoinedRoomFragment,
  JoinedRoomsDocument,
  MarkReadDocument,
} from './gql/graphql.ts';
import { live } from './live.ts';
import { session } from './session.ts';

type Event = InboxSubscription['inbox'];

const maxUnread = 100; // the server counts no further

/** The rooms of the viewer, the one with the latest event first. */
export const joinedRooms = makeVar<readonly JoinedRoomFragment[]>([]);

/** Marks of other devices are not in the log, so a new connection does not deliver those that it missed. */
const reconnected = new Observable<void>((observer) =>
  live.on('connected', (_socket, _payload, wasRetry) => wasRetry && observer.next()),
);

/** Queries the rooms, then applies their events since the query. Starts again after an event that it cannot apply. */
export function followInbox() {
  return follow(() => from(queryRooms()).pipe(switchMap(subscribe))).pipe(
    takeWhile((data) => applyEvent(data.inbox)),
    takeUntil(reconnected),
    repeat({ delay: 500 }),
  );
}

/** Puts the room at the start of the list. Nothing announces a room that the viewer has created. */
export function putFirst(room: JoinedRoomFragment): void {
  joinedRooms([room, ...joinedRooms().filter(({ id }) => id !== room.id)]);
}

/** Marks all posts of the room as read. If this fails, the next query counts them again. */
export function markRead(room: string): void {
  joinedRooms(joinedRooms().map((joined) => (joined.id === room ? { ...joined, unread: 0 } : joined)));
  client.mutate({ mutation: MarkReadDocument, variables: { input: { room } } }).catch(() => {});
}

async function queryRooms(): Promise<JoinedRoomFragment[]> {
  const rooms: JoinedRoomFragment[] = [];
  let after: string | null | undefined;
  do {
    const variables = { after };
    const { data } = await client.query({ query: JoinedRoomsDocument, variables, fetchPolicy: 'no-cache' });
    const page = data?.viewer?.rooms;
    rooms.push(...(page?.nodes ?? []));
    after = page?.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
  } while (after);
  joinedRooms(rooms);
  return rooms;
}

function subscribe(rooms: JoinedRoomFragment[]) {
  return client.subscribe({ query: InboxDocument, variables: { after: rooms.map(({ cursor }) => cursor) } });
}

/** Returns false if the rooms have to be queried again. */
function applyEvent(event: Event): boolean {
  const room = joinedRooms().find(({ id }) => id === event.room.id);
  const unread = countUnread(room?.unread ?? 0, event);
  if (!room || unread === undefined) return false;
  if (event.__typename === 'RoomRead') return true;
  putFirst({ ...room, ...event.room, unread });
  return true;
}

/** The number of unread posts after the event; undefined if it cannot be derived. */
function countUnread(unread: number, event: Event): number | undefined {
  const isViewer = (user?: { id: string } | null) => user?.id === session?.user.id;
  switch (event.__typename) {
    case 'PostCreated':
      return isViewer(event.actor) ? 0 : Math.min(unread + 1, maxUnread);
    case 'PostDeleted':
    case 'RoomRead':
      return unread === 0 ? 0 : undefined;
    case 'MemberJoined':
    case 'MemberLeft':
      return isViewer(event.user) ? undefined : unread;
    case 'RoomDeleted':
      return undefined;
    default:
      return unread;
  }
}
