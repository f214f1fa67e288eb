import type { QueryClient } from '@tanstack/query-core';
import type { GraphQLClient } from 'graphql-request';
import type { Client } from 'graphql-ws';
import { type Page, type RoomEvent, roomEvents, roomPage } from './documents.ts';

/** For `useInfiniteQuery`: the first page has the newest posts, and each next page has older ones. */
export const pagesOf = (graphql: GraphQLClient, room: string) => ({
  queryKey: ['room', room],
  queryFn: ({ pageParam }: { pageParam: string | null }) => graphql.request(roomPage, { room, before: pageParam }),
  initialPageParam: null,
  getNextPageParam: ({ room }: Page) => (room?.posts.pageInfo.hasPreviousPage ? room.posts.pageInfo.startCursor : null),
});

/** Fetches the room again after each event, and passes the event on. */
export async function followRoom(
  { live, queries, room, after }: { live: Client; queries: QueryClient; room: string; after: string },
  onEvent: (event: RoomEvent) => void = () => {},
): Promise<void> {
  const events = live.iterate<{ roomEvents: RoomEvent }>({ query: roomEvents, variables: { room, after } });
  for await (const { data, errors } of events) {
    if (!data) throw new Error(errors?.[0]?.message);
    void queries.invalidateQueries({ queryKey: ['room', room] });
    onEvent(data.roomEvents);
  }
}
