import { useStore } from '@postroom/client/react';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { useChat } from '../chat.ts';
import { useDirectUsers } from '../direct-rooms.ts';
import { ConnectionNotice } from './connection.tsx';
import { RoomView } from './room-view.tsx';
import { Sidebar } from './sidebar.tsx';

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
  const directUsers = useDirectUsers(rooms);
  const listed = rooms?.map((room) => (isRead && room.id === open ? { ...room, unread: 0 } : room));
  const unread = listed?.reduce((sum, room) => sum + room.unread, 0) ?? 0;
  const name = directUsers.get(open)?.name ?? listed?.find(({ id }) => id === open)?.name ?? 'Postroom';
  useEffect(() => {
    if (failure?.action === 'signIn') handleRefusal();
  }, [failure, handleRefusal]);
  return (
    <main className="chat" data-open={open !== ''}>
      <title>{`${unread > 0 ? `(${unread}) ` : ''}${name}`}</title>
      <ConnectionNotice />
      <Sidebar open={open} rooms={listed} directUsers={directUsers} failure={failure} />
      <section className="room">
        {open ? (
          <RoomView key={open} id={open} user={directUsers.get(open)} onSeeEnd={setIsRead} />
        ) : (
          <h1 className="empty">Choose a room, or create one.</h1>
        )}
      </section>
    </main>
  );
}
