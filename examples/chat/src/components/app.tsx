import { useStore } from '@postroom/client/react';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { useChat } from '../chat.ts';
import { ConnectionNotice } from './connection.tsx';
import { RoomView } from './room-view.tsx';
import { nameOf, Sidebar } from './sidebar.tsx';

function onHashChange(listener: () => void): () => void {
  addEventListener('hashchange', listener);
  return () => removeEventListener('hashchange', listener);
}

/** The address contains the id of the open room. */
const readRoom = () => location.hash.slice(1).replace(/^rooms$/, '');

export function App() {
  const { inbox, handleRefusal } = useChat();
  const { rooms, failure } = useStore(inbox);
  const open = useSyncExternalStore(onHashChange, readRoom);
  /** Whether the latest posts of the open room are visible: what arrives there is read at once. */
  const [isRead, setIsRead] = useState(false);
  const listed = rooms?.map((room) => (isRead && room.id === open ? { ...room, unread: 0 } : room));
  const unread = listed?.reduce((sum, room) => sum + room.unread, 0) ?? 0;
  const room = listed?.find(({ id }) => id === open);
  const name = room && nameOf(room);
  useEffect(() => {
    if (failure?.action === 'signIn') handleRefusal();
  }, [failure, handleRefusal]);
  return (
    <main className="chat" data-open={open !== ''}>
      <title>{`${unread > 0 ? `(${unread}) ` : ''}${name ?? 'Postroom'}`}</title>
      <ConnectionNotice />
      <Sidebar open={open} rooms={listed} failure={failure} />
      <section className="room">
        {open ? (
          <RoomView key={open} id={open} name={name} onSeeEnd={setIsRead} />
        ) : (
          <h1 className="empty">Choose a room, or create one.</h1>
        )}
      </section>
    </main>
  );
}
