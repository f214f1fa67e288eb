import type { PostroomClient } from './client.ts';
import { followRoom, maxMembers, readOlder, readRoom } from './documents.ts';
import type { Failure } from './failure.ts';
import { follow } from './follow.ts';
import type { OutboxStore } from './outbox-store.ts';
import { createStore, type Store } from './store.ts';
import { type Post, positionOf, type Room, type User } from './types.ts';

export interface RoomState<P extends Post = Post> {
  viewer: User | null;
  /** Undefined until it was read. */
  room?: Room;
  /** The first 100, in the order in which they joined. */
  members: readonly User[];
  /** The latest posts, newest last, with the older ones that were loaded. */
  posts: readonly P[];
  hasOlder: boolean;
  /** Why the room is not up to date. If its `action` is `repeat` or `query`, the store tries again. */
  failure?: Failure | undefined;
}

export interface RoomStore<P extends Post = Post> extends Store<RoomState<P>> {
  loadOlder: () => Promise<void>;
}

export interface RoomStoreOptions {
  /** The number of posts in a page, at most 100. */
  pageSize?: number;
  /** More fields of each post, as GraphQL. They must not depend on the viewer. */
  postFields?: string;
  /** Its sent posts are shown at once, without `postFields` until their events arrive. */
  outbox?: OutboxStore;
}

/** A room that its events keep up to date. */
export function roomStore<P extends Post = Post>(
  client: PostroomClient,
  id: string,
  { pageSize = 50, postFields = '', outbox }: RoomStoreOptions = {},
): RoomStore<P> {
  let startCursor: string | null = null;
  /** What events since the query said of posts that are not shown: null if a post was deleted. */
  let others = new Map<string, P | null>();

  const store = createStore<RoomState<P>>({ viewer: null, members: [], posts: [], hasOlder: false }, () => {
    const stops = [
      follow<{ roomEvents: RoomEvent<P> }>({
        client,
        query,
        subscription: followRoom(postFields),
        apply: ({ roomEvents }) => apply(roomEvents),
        onFailure: (failure) => store.update({ failure }),
      }),
      // A sent post is shown before its event arrives.
      outbox?.onSent((sent, room) => room === id && !isShown(sent) && put(sent as P)),
    ];
    return () => {
      for (const stop of stops) stop?.();
    };
  });

  async function query(): Promise<() => Record<string, unknown>> {
    const { viewer, room } = await client.request<RoomAnswer<P>>(readRoom(postFields), { id, last: pageSize });
    if (!room) throw { extensions: { code: 'NOT_FOUND' }, message: 'The room does not exist, or is not visible.' };
    const { cursor, members, posts, ...fields } = room;
    return () => {
      startCursor = posts.pageInfo.startCursor;
      others = new Map();
      store.update({
        viewer,
        room: fields,
        members: members.nodes,
        posts: posts.nodes,
        hasOlder: posts.pageInfo.hasPreviousPage,
      });
      return { id, after: cursor };
    };
  }

  const isShown = (post: Post) => store.get().posts.some(({ id: shown }) => shown === post.id);

  /** Shows a post, in the order of the server, unless it was deleted or is newer already. */
  function put(changed: P): void {
    const { posts } = store.get();
    const shown = posts.findIndex((post) => post.id === changed.id);
    if (others.get(changed.id) === null || (posts[shown]?.version ?? 0) > changed.version) return;
    const previous = posts.findLastIndex((post) => positionOf(post) < positionOf(changed));
    store.update({ posts: shown < 0 ? posts.toSpliced(previous + 1, 0, changed) : posts.with(shown, changed) });
  }

  function remove(postId: string): void {
    others.set(postId, null);
    store.update({ posts: store.get().posts.filter((present) => present.id !== postId) });
  }

  function apply({ __typename: type, post: changed, postId, user, room: fields }: RoomEvent<P>): boolean {
    const { room, viewer, members } = store.get();
    if (type === 'OtherEvent' || !room || (user && user.id === viewer?.id)) return false;
    // A post is null if it was deleted since.
    if (changed && (type === 'PostCreated' || isShown(changed))) put(changed);
    else if (changed) others.set(changed.id, changed);
    if (postId) remove(postId);
    if (user) {
      const rest = members.filter((member) => member.id !== user.id);
      // Another member is now one of the first.
      if (type === 'MemberLeft' && rest.length < members.length && members.length === maxMembers) return false;
      store.update({ members: type === 'MemberLeft' ? rest : [...rest, user].slice(0, maxMembers) });
    }
    if (fields) store.update({ room: { ...room, ...fields } });
    return true;
  }

  async function loadOlder(): Promise<void> {
    const before = startCursor;
    const own = others;
    if (!store.get().hasOlder || before === null) return;
    const variables = { id, last: pageSize, before };
    const { room } = await client.request<{ room: { posts: Page<P> } | null }>(readOlder(postFields), variables);
    // It was queried again meanwhile, or another call was faster.
    if (!room || before !== startCursor || own !== others) return;
    const { nodes, pageInfo } = room.posts;
    startCursor = pageInfo.startCursor;
    const older = nodes
      .map((node) => others.get(node.id) ?? node)
      .filter(({ id: postId }) => others.get(postId) !== null);
    store.update({ posts: [...older, ...store.get().posts], hasOlder: pageInfo.hasPreviousPage });
  }

  return { get: store.get, subscribe: store.subscribe, loadOlder };
}

interface Page<P> {
  nodes: P[];
  pageInfo: { hasPreviousPage: boolean; startCursor: string | null };
}

interface RoomAnswer<P> {
  viewer: User | null;
  room: (Room & { cursor: string; members: { nodes: User[] }; posts: Page<P> }) | null;
}

interface RoomEvent<P> {
  __typename: string;
  post?: P | null;
  postId?: string;
  user?: User;
  room?: Pick<Room, 'name' | 'visibility'>;
}
