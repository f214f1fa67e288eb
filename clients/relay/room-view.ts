import {
  createOperationDescriptor,
  type Environment,
  fetchQuery,
  getRequest,
  requestSubscription,
} from 'relay-runtime';
import { waitForFragmentData } from 'relay-runtime/experimental.js';
import type { roomCreatePostMutation } from './__generated__/roomCreatePostMutation.graphql';
import type { roomEventsSubscription } from './__generated__/roomEventsSubscription.graphql';
import olderPostsQuery, { type roomOlderPostsQuery } from './__generated__/roomOlderPostsQuery.graphql';
import type { roomPosts_room$key } from './__generated__/roomPosts_room.graphql';
import type { roomQuery as RoomQuery } from './__generated__/roomQuery.graphql';
import { mutate } from './mutate.ts';
import { createPost, postsFragment, roomEvents, roomQuery } from './room.ts';

type RoomEvent = roomEventsSubscription['response']['roomEvents'];

/** What `useLazyLoadQuery`, `usePaginationFragment`, `useMutation` and `useSubscription` do in a component. */
export async function openRoom(environment: Environment, room: string, count = 20) {
  const variables = { room, count };
  environment.retain(createOperationDescriptor(getRequest(roomQuery), variables));
  const data = await fetchQuery<RoomQuery>(environment, roomQuery, variables).toPromise();
  if (!data?.room) throw new Error(`There is no room ${room}.`);
  const { cursor } = data.room;
  const key: roomPosts_room$key = data.room;
  const readPosts = async () => (await waitForFragmentData(environment, postsFragment, key)).posts;
  const connections = [(await readPosts()).__id];

  return {
    readTitles: async () => (await readPosts()).edges.map(({ node }) => node.title),

    loadOlder: async () => {
      const { pageInfo } = await readPosts();
      const before = pageInfo.startCursor;
      await fetchQuery<roomOlderPostsQuery>(environment, olderPostsQuery, { id: room, count, before }).toPromise();
      return (await readPosts()).pageInfo.hasPreviousPage;
    },

    createPost: (title: string) =>
      mutate<roomCreatePostMutation>(environment, createPost, { input: { room, title }, connections }),

    /** Misses no event since the query. */
    follow: (onEvent: (event: RoomEvent) => void, onError: (error: Error) => void) =>
      requestSubscription<roomEventsSubscription>(environment, {
        subscription: roomEvents,
        variables: { room, after: cursor, connections },
        onNext: (data) => data && onEvent(data.roomEvents),
        onError,
      }),
  };
}
