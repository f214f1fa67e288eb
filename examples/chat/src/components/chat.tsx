import { useMutation, useQuery } from '@apollo/client/react';
import { useSyncExternalStore } from 'react';
import { CreateRoomDocument, RoomsDocument } from '../gql/graphql.ts';
import { endSession } from '../session.ts';
import { Button, Failure, Field } from './form.tsx';
import { RoomView } from './room-view.tsx';

/** The address contains the id of the open room. */
function onHashChange(listener: () => void): () => void {
  addEventListener('hashchange', listener);
  return () => removeEventListener('hashchange', listener);
}

export function Chat({ user }: { user: { name: string } }) {
  const room = useSyncExternalStore(onHashChange, () => location.hash.slice(1));
  return (
    <div className="chat">
      <aside>
        <header>
          <strong>{user.name}</strong>
          <Button onClick={endSession}>Sign out</Button>
        </header>
        <Rooms selected={room} />
        <NewRoom />
      </aside>
      <main>{room ? <RoomView key={room} id={room} /> : <h1>Choose a room, or create one.</h1>}</main>
    </div>
  );
}

/** The first hundred rooms. There are no events of new rooms, so the list is polled. */
function Rooms({ selected }: { selected: string }) {
  const { data, previousData, error } = useQuery(RoomsDocument, { pollInterval: 15_000 });
  return (
    <nav aria-label="Rooms">
      {(data ?? previousData)?.rooms.data.map(({ id, name, visibility }) => (
        <a key={id} href={`#${id}`} aria-current={id === selected && 'page'}>
          {name} {visibility === 'PRIVATE' && <small>private</small>}
        </a>
      ))}
      <Failure error={error} />
    </nav>
  );
}

function NewRoom() {
  const refetchQueries = [RoomsDocument];
  const [createRoom, { error }] = useMutation(CreateRoomDocument, { errorPolicy: 'all', refetchQueries });

  async function create(form: FormData) {
    const visibility = form.has('private') ? 'PRIVATE' : 'PUBLIC';
    const { data } = await createRoom({ variables: { input: { name: String(form.get('name')), visibility } } });
    if (data?.createRoom) location.hash = data.createRoom.room.id;
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
