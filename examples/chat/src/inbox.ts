import { makeVar } from '@apollo/client';
import { auditTime, from, merge, repeat, Subject, switchMap, takeUntil, tap } from 'rxjs';
import { client } from './client.ts';
import { follow } from './follow.ts';
import { InboxDocument, type InboxSubscription, type JoinedRoomFragment, JoinedRoomsDocument } from './gql/graphql.ts';
import { reconnected } from './live.ts';
import { session } from './session.ts';

type Event = InboxSubscription['inbox'];

const maxUnread = 100; // the server counts no further
const queryEveryMs = 2_000;

/** The rooms of the viewer, the one with the latest event first. */
export const joinedRooms = makeVar<readonly JoinedRoomFragment[]>([]);

/** Emits for each event that cannot be applied. */
const outdated = new Subject<void>();

/**
 * Queries the rooms, then applies their events since the query. Starts again soon after events that it cannot apply, and
 * when the connection is back: marks of other devices are not in the log, so it does not deliver those that it missed.
 */
export function followInbox() {
  return follow(() => from(queryRooms()).pipe(switchMap(subscribe))).pipe(
    tap(({ inbox }) => applyEvent(inbox) || outdated.next()),
    takeUntil(merge(reconnected, outdated.pipe(auditTime(queryEveryMs)))),
    repeat({ delay: 500 }),
  );
}

/** Puts the room at the start of the list. A room that the viewer has created need not wait for the next query. */
export function putFirst(room: JoinedRoomFragment): void {
  joinedRooms([room, ...joinedRooms().filter(({ id }) => id !== room.id)]);
}

export function showAsRead(room: string): void {
  joinedRooms(joinedRooms().map((joined) => (joined.id === room ? { ...joined, unread: 0 } : joined)));
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
    case 'OtherEvent':
      return undefined;
    default:
      return unread;
  }
}
