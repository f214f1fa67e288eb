import type { PostroomClient } from './client.ts';
import { followInbox, markRead as markReadText, readInbox, readInboxRoom } from './documents.ts';
import { type Failure, retryOf } from './failure.ts';
import { follow } from './follow.ts';
import { createStore, type Store } from './store.ts';
import type { Room, User } from './types.ts';

export interface InboxRoom extends Room {
  /** The number of posts by others that the viewer has not read, counted up to 100. */
  unread: number;
  /** The other user of a direct room. */
  directUser: User | null;
}

export interface InboxState {
  viewer: User | null;
  /** The rooms of the viewer, that with the latest event first; undefined until they were read. */
  rooms?: readonly InboxRoom[];
  failure?: Failure | undefined;
}

export interface InboxStore extends Store<InboxState> {
  /** Marks the room as read, up to a post or up to now, on all devices of the viewer. */
  markRead: (room: string, post?: string) => Promise<void>;
}

const maxUnread = 100;
/** A pause that lets many events of a room cause one query. */
const queryAgainMs = 500;

/** The rooms of the viewer, with unread counts that the events of all rooms keep up to date. */
export function inboxStore(client: PostroomClient): InboxStore {
  /** The rooms that are to be queried, because their state does not follow from their events. */
  const unclear = new Set<string>();
  /** The number of events of each room since the inbox was queried; replaced with each query, and when the store stops. */
  let counts = new Map<string, number>();
  /** By room: the number of the latest event that is contained in its unread count, since it was queried alone. */
  const contained = new Map<string, number>();
  /** By room: the time up to which it was read, as events have said. A mark may arrive before a post that it covers. */
  const readUpTo = new Map<string, string>();
  /** Whether an event may be older than the query, and counted by it. */
  let isCatchingUp = false;
  let isFollowed = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const store = createStore<InboxState>({ viewer: null }, () => {
    const stop = follow<{ inbox: InboxEvent }>({
      client,
      query,
      subscription: followInbox,
      apply: ({ inbox }) => apply(inbox),
      onCaughtUp: () => {
        isCatchingUp = false;
      },
      onFailure: (failure) => store.update({ failure }),
    });
    isFollowed = true;
    return () => {
      isFollowed = false;
      stop();
      forgetEvents();
    };
  });

  function forgetEvents(): void {
    clearTimeout(timer);
    timer = undefined;
    counts = new Map();
    for (const events of [unclear, contained, readUpTo]) events.clear();
  }

  async function query(): Promise<() => Record<string, unknown>> {
    const rooms: InboxRoom[] = [];
    const after: string[] = [];
    let page: string | null = null;
    let viewer: ViewerAnswer['viewer'];
    do {
      ({ viewer } = await client.request<ViewerAnswer>(readInbox, { page }));
      if (!viewer) throw { extensions: { code: 'UNAUTHENTICATED' }, message: 'An inbox needs credentials.' };
      // The first answer has the oldest cursor: what happens between the pages is sent.
      if (after.length === 0) after.push(viewer.cursor);
      for (const { cursor, ...room } of viewer.rooms.nodes) {
        rooms.push(room);
        after.push(cursor);
      }
      page = viewer.rooms.pageInfo.hasNextPage ? viewer.rooms.pageInfo.endCursor : null;
    } while (page);
    const { id, name } = viewer;
    return () => {
      isCatchingUp = true;
      forgetEvents();
      store.update({ viewer: { id, name }, rooms });
      return { after };
    };
  }

  /** Puts the room first. Returns false if all rooms must be queried again. */
  function apply({ __typename: type, cursor, at, room: { lastRead, ...room }, actor, user }: InboxEvent): boolean {
    const { viewer, rooms = [] } = store.get();
    const known = rooms.find(({ id }) => id === room.id);
    counts.set(room.id, (counts.get(room.id) ?? 0) + 1);
    if (lastRead) readUpTo.set(room.id, lastRead);
    let unread = known?.unread ?? 0;
    let isClear = known !== undefined && type !== 'OtherEvent' && user?.id !== viewer?.id;
    const isContained = numberOf(cursor) <= (contained.get(room.id) ?? 0);
    if (type === 'PostCreated' && !isContained) {
      const isRead = at <= (readUpTo.get(room.id) ?? '');
      unread = actor?.id === viewer?.id ? 0 : Math.min(unread + Number(!isRead), maxUnread);
      isClear &&= !isCatchingUp;
    }
    // The post may have been read, and the mark may be that of an earlier post.
    if (type === 'RoomRead' || (type === 'PostDeleted' && !isContained)) isClear &&= unread === 0 && !isCatchingUp;
    if (type === 'RoomDeleted') return replace(room.id) ?? true;
    if (known && type === 'RoomRead') replace(room.id, { ...known, unread });
    else if (known) replace(room.id, { ...known, ...room, unread }, true);
    if (!isClear) queryAgain(room.id);
    return true;
  }

  function queryAgain(id: string): void {
    unclear.add(id);
    timer ??= setTimeout(() => void queryUnclear(counts), queryAgainMs);
  }

  function replace(id: string, room?: InboxRoom, isFirst = false): void {
    const { rooms = [] } = store.get();
    if (isFirst && room) return store.update({ rooms: [room, ...rooms.filter((other) => other.id !== id)] });
    store.update({ rooms: rooms.flatMap((other) => (other.id === id ? (room ?? []) : other)) });
  }

  /** An answer is used only if no event of the room has arrived meanwhile, which it may contain or not. */
  async function queryUnclear(own: typeof counts, attempt = 0): Promise<void> {
    let ms: number | undefined = queryAgainMs;
    let failures = 0;
    for (const id of unclear) {
      const before = own.get(id);
      try {
        const { room: found } = await client.request<RoomAnswer>(readInboxRoom, { id });
        if (own !== counts) return;
        if (own.get(id) !== before) continue;
        unclear.delete(id);
        const isKnown = store.get().rooms?.some((other) => other.id === id);
        if (!found?.viewerRole) {
          replace(id);
          continue;
        }
        const { cursor, ...room } = found;
        contained.set(id, numberOf(cursor));
        replace(id, room, !isKnown);
      } catch (error) {
        if (own !== counts) return;
        failures = attempt + 1;
        ms = retryOf(error, { isSafe: true, attempt });
        break;
      }
    }
    const isDue = unclear.size > 0 && ms !== undefined;
    timer = isDue ? setTimeout(() => void queryUnclear(own, failures), ms) : undefined;
  }

  async function markRead(room: string, post?: string): Promise<void> {
    const known = store.get().rooms?.find(({ id }) => id === room);
    if (known && post === undefined) replace(room, { ...known, unread: 0 });
    const input = { room, ...(post !== undefined && { post }) };
    try {
      await client.request(markReadText, { input });
    } catch (error) {
      if (known && isFollowed) queryAgain(room);
      throw error;
    }
  }

  return { get: store.get, subscribe: store.subscribe, markRead };
}

/** A cursor contains the number of its event in the log of its room. */
const numberOf = (cursor: string) => Number(atob(cursor).split('.')[1]);

interface RoomAnswer {
  room: (InboxRoom & { cursor: string }) | null;
}

interface ViewerAnswer {
  viewer:
    | (User & {
        cursor: string;
        rooms: {
          nodes: (InboxRoom & { cursor: string })[];
          pageInfo: { hasNextPage: boolean; endCursor: string | null };
        };
      })
    | null;
}

interface InboxEvent {
  __typename: string;
  cursor: string;
  at: string;
  room: Pick<Room, 'id' | 'name' | 'visibility'> & { lastRead?: string | null };
  actor: { id: string } | null;
  user?: { id: string } | null;
}
