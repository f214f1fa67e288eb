import type { PostroomClient } from './client.ts';
import type { Failure } from './failure.ts';
import { follow } from './follow.ts';
import { createStore, type Store } from './store.ts';
import { orderOf, type Post, type Room, type User } from './types.ts';

export interface InboxRoom extends Room {
  /** The number of posts by others that the viewer has not read, counted up to 100. */
  unread: number;
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
/** More rooms than this are queried together. */
const maxSingleRooms = 5;
const roomSelection = 'id name visibility viewerRole unread';

/** The rooms of the viewer, with unread counts that the events of all rooms keep up to date. */
export function inboxStore(client: PostroomClient): InboxStore {
  /** The rooms that are to be queried, because their state does not follow from their events. */
  const unclear = new Set<string>();
  /** The number of events of each room since the inbox was queried. */
  const counts = new Map<string, number>();
  /** Whether an event may be older than the query, and counted by it. */
  let isCatchingUp = false;
  /** The latest post of each room that was queried by itself: its events until then may arrive later, and are counted. */
  const counted = new Map<string, string>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  const store = createStore<InboxState>({ viewer: null }, () => {
    const stop = follow<{ inbox: InboxEvent }>({
      client,
      query,
      // It selects nothing that depends on the viewer, so that the server executes an event once for all readers.
      subscription: `subscription ($after: [String!]) { inbox(after: $after) { __typename room { id name visibility } actor { id }
        ... on PostCreated { post { id publishedAt } } ... on MemberJoined { user { id } } ... on MemberLeft { user { id } } } }`,
      apply: ({ inbox }) => apply(inbox),
      onCaughtUp: () => {
        isCatchingUp = false;
      },
      onFailure: (failure) => store.update({ failure }),
    });
    return () => {
      stop();
      clearTimeout(timer);
      timer = undefined;
    };
  });

  async function query(): Promise<Record<string, unknown>> {
    const rooms: InboxRoom[] = [];
    const after: string[] = [];
    let page: string | null = null;
    let viewer: ViewerAnswer['viewer'];
    do {
      ({ viewer } = await client.request<ViewerAnswer>(
        `query ($page: String) { viewer { id name cursor rooms(first: 100, after: $page) {
          nodes { ${roomSelection} cursor } pageInfo { hasNextPage endCursor } } } }`,
        { page },
      ));
      if (!viewer) throw { extensions: { code: 'UNAUTHENTICATED' }, message: 'An inbox needs credentials.' };
      // The first answer has the oldest cursor: what happens between the pages is sent.
      if (after.length === 0) after.push(viewer.cursor);
      for (const { cursor, ...room } of viewer.rooms.nodes) {
        rooms.push(room);
        after.push(cursor);
      }
      page = viewer.rooms.pageInfo.hasNextPage ? viewer.rooms.pageInfo.endCursor : null;
    } while (page);
    isCatchingUp = true;
    unclear.clear();
    counts.clear();
    counted.clear();
    store.update({ viewer: { id: viewer.id, name: viewer.name }, rooms });
    return { after };
  }

  /** Puts the room first. Returns false if all rooms must be queried again. */
  function apply({ __typename: type, room, actor, user, post }: InboxEvent): boolean {
    const { viewer, rooms = [] } = store.get();
    const known = rooms.find(({ id }) => id === room.id);
    counts.set(room.id, (counts.get(room.id) ?? 0) + 1);
    let unread = known?.unread ?? 0;
    let isClear = known !== undefined && type !== 'OtherEvent' && user?.id !== viewer?.id;
    const isCounted = post && orderOf(post) <= (counted.get(room.id) ?? '');
    if (type === 'PostCreated' && !isCounted) {
      unread = actor?.id === viewer?.id ? 0 : Math.min(unread + 1, maxUnread);
      isClear &&= !isCatchingUp;
    }
    // The post may have been read, and the mark may be that of an earlier post.
    if (type === 'PostDeleted' || type === 'RoomRead') isClear &&= unread === 0 && !isCatchingUp;
    if (type === 'RoomDeleted') return replace(room.id) ?? true;
    if (known && type === 'RoomRead') replace(room.id, { ...known, unread });
    else if (known) replace(room.id, { ...known, ...room, unread }, true);
    if (!isClear) {
      unclear.add(room.id);
      timer ??= setTimeout(() => void queryUnclear(), queryAgainMs);
    }
    return unclear.size <= maxSingleRooms;
  }

  function replace(id: string, room?: InboxRoom, isFirst = false): void {
    const { rooms = [] } = store.get();
    if (isFirst && room) return store.update({ rooms: [room, ...rooms.filter((other) => other.id !== id)] });
    store.update({ rooms: rooms.flatMap((other) => (other.id === id ? (room ?? []) : other)) });
  }

  /** An answer is used only if no event of the room has arrived meanwhile, which it may contain or not. */
  async function queryUnclear(): Promise<void> {
    for (const id of unclear) {
      const before = counts.get(id);
      try {
        const { room: answer } = await client.request<{ room: RoomAnswer | null }>(
          `query ($id: ID!) { room(id: $id) { ${roomSelection} posts(last: 1) { nodes { id publishedAt } } } }`,
          { id },
        );
        if (counts.get(id) !== before) continue;
        unclear.delete(id);
        const isKnown = store.get().rooms?.some((other) => other.id === id);
        if (!answer?.viewerRole) replace(id);
        else {
          const { posts, ...room } = answer;
          for (const post of posts.nodes) counted.set(id, orderOf(post));
          replace(id, room, !isKnown);
        }
      } catch {
        // It is tried again below.
      }
    }
    timer = unclear.size > 0 ? setTimeout(() => void queryUnclear(), queryAgainMs) : undefined;
  }

  async function markRead(room: string, post?: string): Promise<void> {
    const known = store.get().rooms?.find(({ id }) => id === room);
    if (known && post === undefined) replace(room, { ...known, unread: 0 });
    await client.request('mutation ($input: MarkReadInput!) { markRead(input: $input) { room { id } } }', {
      input: { room, ...(post !== undefined && { post }) },
    });
  }

  return { get: store.get, subscribe: store.subscribe, markRead };
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

interface RoomAnswer extends InboxRoom {
  posts: { nodes: Pick<Post, 'id' | 'publishedAt'>[] };
}

interface InboxEvent {
  __typename: string;
  room: Pick<Room, 'id' | 'name' | 'visibility'>;
  actor: { id: string } | null;
  user?: { id: string } | null;
  post?: Pick<Post, 'id' | 'publishedAt'> | null;
}
