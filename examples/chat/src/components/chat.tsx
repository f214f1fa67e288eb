import { useSyncExternalStore } from 'react';
import { endSession } from '../session.ts';
import { Button } from './form.tsx';
import { RoomView } from './room-view.tsx';
import { NewRoom, Rooms } from './rooms.tsx';

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
