import { useMutation, useQuery, useReactiveVar } from '@apollo/client/react';
import { useEffect } from 'react';
import { useStream } from '../follow.ts';
import { CreateRoomDocument, type RoomNameFragment, RoomsDocument } from '../gql/graphql.ts';
import { followInbox, joinedRooms, putFirst } from '../inbox.ts';
import { reconnected } from '../live.ts';
import { Failure, Field } from './form.tsx';

type ListedRoom = RoomNameFragment & { unread?: number | null };

/** The viewer's rooms, and the first hundred of the others. There are no events of the new rooms of others, so these are polled. */
export function Rooms({ selected }: { selected: string }) {
  const failed = useStream(followInbox).error;
  const joined = useReactiveVar(joinedRooms);
  const { data, previousData, error, refetch } = useQuery(RoomsDocument, { pollInterval: 15_000 });
  useEffect(() => {
    const subscription = reconnected.subscribe(() => void refetch().catch(() => {}));
    return () => subscription.unsubscribe();
  }, [refetch]);
  const rooms = (data ?? previousData)?.rooms.data ?? [];
  const others = rooms.filter(({ id }) => !joined.some((room) => room.id === id));
  return (
    <nav aria-label="Rooms">
      <RoomList label="Your rooms" rooms={joined} selected={selected} />
      <RoomList label="Other rooms" rooms={others} selected={selected} />
      <Failure error={failed ?? error} />
    </nav>
  );
}

function RoomList({ label, rooms, selected }: { label: string; rooms: readonly ListedRoom[]; selected: string }) {
  return (
    <section aria-label={label}>
      <small>{label}</small>
      {rooms.map(({ id, name, visibility, unread }) => (
        <a key={id} href={`#${id}`} aria-current={id === selected && 'page'}>
          {name} {visibility === 'PRIVATE' && <small>private</small>}
          {!!unread && <strong>{unread} unread</strong>}
        </a>
      ))}
    </section>
  );
}

export function NewRoom() {
  const [createRoom, { error }] = useMutation(CreateRoomDocument, { errorPolicy: 'all' });

  async function create(form: FormData) {
    const visibility = form.has('private') ? 'PRIVATE' : 'PUBLIC';
    const { data } = await createRoom({ variables: { input: { name: String(form.get('name')), visibility } } });
    if (!data?.createRoom) return;
    putFirst(data.createRoom.room);
    location.hash = data.createRoom.room.id;
  }

  return (
    <form aria-label="New room" action={create}>
      <Field label="New room" name="name" maxLength={80} />
      <label>
        <input type="checkbox" name="private" /> Only for members
      </label>
      <Failure error={error} />
      <button type="submit">Create room</button>
    </form>
  );
}
