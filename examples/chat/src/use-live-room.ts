import { useQuery } from '@apollo/client/react';
import { from, repeat, switchMap, takeWhile, tap } from 'rxjs';
import { client } from './client.ts';
import { follow, useStream } from './follow.ts';
import { RoomDocument, RoomEventsDocument } from './gql/graphql.ts';
import { applyEvent, updateRoom } from './room.ts';

/** A room that its events keep up to date while the component is mounted. */
export function useLiveRoom(id: string) {
  const { data } = useQuery(RoomDocument, { variables: { id }, fetchPolicy: 'cache-only' });
  const { error } = useStream(followRoom, id);
  return { room: data?.room, error };
}

/** Queries the room, then applies its events since the query. Starts again after an event that this app cannot know. */
function followRoom(room: string) {
  const query = () => client.query({ query: RoomDocument, variables: { id: room }, fetchPolicy: 'network-only' });
  const subscribe = (after = '') => client.subscribe({ query: RoomEventsDocument, variables: { room, after } });
  return follow(() => from(query()).pipe(switchMap(({ data }) => subscribe(data?.room?.cursor)))).pipe(
    takeWhile(({ roomEvents }) => roomEvents.__typename !== 'OtherEvent'),
    tap(({ roomEvents }) => updateRoom(client.cache, room, (current) => applyEvent(current, roomEvents))),
    repeat({ delay: 500 }),
  );
}
