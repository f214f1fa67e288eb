import type { ApolloCache } from '@apollo/client';
import { type PostFieldsFragment, RoomDocument, type RoomEventsSubscription, type RoomQuery } from './gql/graphql.ts';

export type Post = PostFieldsFragment;
export type Room = NonNullable<RoomQuery['room']>;
export type RoomEvent = RoomEventsSubscription['roomEvents'];

/** Changes the room in the cache. */
export function updateRoom(cache: ApolloCache, id: string, change: (room: Room) => Room): void {
  cache.updateQuery({ query: RoomDocument, variables: { id } }, (data) => data?.room && { room: change(data.room) });
}

/** The room after the event. By their ids, the cache has already updated all objects of the event that it contains. */
export function applyEvent(room: Room, event: RoomEvent): Room {
  if (event.__typename === 'PostCreated' && event.post) return addPost(room, event.post);
  if (event.__typename !== 'PostDeleted') return room;
  return { ...room, posts: { ...room.posts, nodes: room.posts.nodes.filter(({ id }) => id !== event.postId) } };
}

/** Adds the post once, in the order of the server: the answer to its mutation arrives before or after its event. */
export function addPost(room: Room, post: Post): Room {
  const position = ({ publishedAt, id }: Post) => `${publishedAt} ${id}`;
  const { nodes } = room.posts;
  if (nodes.some(({ id }) => id === post.id)) return room;
  const sorted = [...nodes, post].sort((a, b) => (position(a) < position(b) ? -1 : 1));
  return { ...room, posts: { ...room.posts, nodes: sorted } };
}
