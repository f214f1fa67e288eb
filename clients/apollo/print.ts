import type { ApolloClient } from '@apollo/client';
import type { RoomEvent } from './documents.ts';

/** Prints an event as a line of JSON. */
export function print({ data, error }: ApolloClient.SubscribeResult<{ roomEvents: RoomEvent }>): void {
  if (error || !data) throw error;
  const { __typename: event, post } = data.roomEvents;
  console.log(JSON.stringify({ event, title: post?.title }));
}
