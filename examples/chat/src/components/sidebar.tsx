import type { Failure, InboxRoom } from '@postroom/client';
import { type ReactNode, useState } from 'react';
import { useChat } from '../chat.ts';
import { endSession } from '../session.ts';
import { ConnectionBadge } from './connection.tsx';
import { BrowseRooms, NewDirectMessage, NewRoom } from './room-dialogs.tsx';
import { Avatar, Button, Icon, IconButton, Problem } from './ui.tsx';

/** All direct rooms have the same name, which is shown only after the account of the other user was deleted. */
export const nameOf = ({ name, viewerRole, directUser }: InboxRoom) =>
  directUser?.name ?? (name === 'direct room' && viewerRole !== 'OWNER' ? 'Former direct message' : name);

interface SidebarProps {
  /** The id of the open room. */
  open: string;
  rooms: readonly InboxRoom[] | undefined;
  failure: Failure | undefined;
}

export function Sidebar({ open, rooms, failure }: SidebarProps) {
  const { viewer } = useChat();
  const [Shown, setShown] = useState<typeof BrowseRooms>();
  const toLink = (room: InboxRoom) => <RoomLink key={room.id} room={room} isOpen={room.id === open} />;
  return (
    <section className="sidebar">
      <header>
        <h1>Postroom</h1>
        <ConnectionBadge />
      </header>
      <nav aria-label="Rooms">
        <RoomList title="Your rooms" links={rooms?.filter((room) => !room.directUser).map(toLink)}>
          <IconButton icon="search" label="Browse rooms" onClick={() => setShown(() => BrowseRooms)} />
          <IconButton icon="plus" label="New room" onClick={() => setShown(() => NewRoom)} />
        </RoomList>
        <RoomList title="Direct messages" links={rooms?.filter((room) => room.directUser).map(toLink)}>
          <IconButton icon="plus" label="New direct message" onClick={() => setShown(() => NewDirectMessage)} />
        </RoomList>
        <Problem failure={failure} />
      </nav>
      <footer>
        <Avatar user={viewer} />
        <strong dir="auto">{viewer.name}</strong>
        <Button className="link" onClick={() => endSession()}>
          Sign out
        </Button>
      </footer>
      {Shown && <Shown onClose={() => setShown(undefined)} />}
    </section>
  );
}

function RoomList({ title, links, children }: { title: string; links: ReactNode[] | undefined; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <header>
        <h2>{title}</h2>
        {children}
      </header>
      {links}
      {links?.length === 0 && <p className="hint">None yet.</p>}
    </section>
  );
}

function RoomLink({ room, isOpen }: { room: InboxRoom; isOpen: boolean }) {
  const { id, visibility, unread, directUser } = room;
  return (
    <a href={`#${id}`} aria-current={isOpen ? 'page' : undefined} data-unread={unread > 0}>
      {directUser ? <Avatar user={directUser} /> : <Icon name={visibility} />}
      <span dir="auto">{nameOf(room)}</span>
      {unread > 0 && (
        <strong className="count">
          {unread < 100 ? unread : '99+'} <span className="hidden">unread</span>
        </strong>
      )}
    </a>
  );
}
