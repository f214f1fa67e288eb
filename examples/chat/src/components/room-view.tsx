import type { User } from '@postroom/client';
import { useOutbox, usePresence, useRoom } from '@postroom/client/react';
import { lazy, Suspense, useMemo, useState } from 'react';
import { BoardSwitch } from '../board/board-switch.tsx';
import { useChat } from '../chat.ts';
import { useDeletions } from '../deletions.ts';
import { useAction } from '../failures.ts';
import { joinRoom } from '../operations.ts';
import { useReading } from '../reading.ts';
import { draftPrefix } from '../session.ts';
import { toPostText } from '../text.ts';
import { Composer } from './composer.tsx';
import { ConnectionBadge } from './connection.tsx';
import { PostList } from './post-list.tsx';
import { RoomDetails } from './room-details.tsx';
import { Button, Icon, IconButton, Problem } from './ui.tsx';

const Board = lazy(() => import('../board/board.tsx'));

interface RoomViewProps {
  id: string;
  /** Its name for the viewer, if the viewer is a member. */
  name: string | undefined;
  onSeeEnd: (isVisible: boolean) => void;
}

/** The server counts as many unread posts. */
const pageSize = 100;
const namesOf = (users: readonly User[]) => users.map(({ name }) => name).join(', ');

export function RoomView({ id, name, onSeeEnd }: RoomViewProps) {
  const chat = useChat();
  const { client, outbox, viewer } = chat;
  const [{ room, members, posts, failure }, store] = useRoom(client, id, { pageSize, outbox });
  const entries = useOutbox(outbox, id);
  const [presence, reportTyping] = usePresence(client, id);
  const { hidden, canUndo, undo, remove, ...deletion } = useDeletions(client);
  const reading = useReading(chat, id, room && posts, Boolean(room?.viewerRole));
  const join = useAction(() => joinRoom(client, id));
  const [editing, setEditing] = useState<string>();
  const [hasDetails, setHasDetails] = useState(false);
  const [isBoard, setIsBoard] = useState(false);
  const shown = useMemo(() => posts.filter((post) => !hidden.includes(post.id)), [posts, hidden]);
  const outgoing = useMemo(() => entries.filter(({ state }) => state !== 'sent'), [entries]);

  function showBoard(isOn: boolean) {
    setIsBoard(isOn);
    // The posts that arrive meanwhile are not read.
    onSeeEnd(false);
  }

  const draftKey = `${draftPrefix}${id}`;
  if (failure?.action === 'stop') return <Unavailable />;
  const typing = presence.typing.filter((present) => present.id !== viewer.id);
  return (
    <>
      <header>
        <a href="#rooms" className="icon-button back" aria-label="Back to the rooms">
          <Icon name="back" />
        </a>
        <div className="title">
          <h1 dir="auto">{room ? (name ?? room.name) : 'Loading…'}</h1>
          <small>
            {presence.count} here{presence.users.length > 0 && `: ${namesOf(presence.users)}`}
          </small>
        </div>
        <ConnectionBadge />
        <BoardSwitch isOn={isBoard} onChange={showBoard} />
        {room?.viewerRole === null && <Button onClick={join.run}>Join</Button>}
        <IconButton icon="people" label="Members" disabled={!room} onClick={() => setHasDetails(true)} />
      </header>
      <Problem failure={failure ?? join.failure ?? deletion.failure} />
      {isBoard && room ? (
        <Suspense fallback={<Busy />}>
          <Board room={id} isMember={room.viewerRole !== null} />
        </Suspense>
      ) : room && reading.line !== undefined ? (
        <PostList
          store={store}
          posts={shown}
          outgoing={outgoing}
          reading={reading}
          editing={editing}
          onEdit={setEditing}
          onDelete={remove}
          onSeeEnd={onSeeEnd}
        />
      ) : (
        <Busy />
      )}
      <footer>
        <p role="status">{canUndo && 'Message deleted.'}</p>
        {canUndo && <Button onClick={undo}>Undo</Button>}
        <small aria-live="polite">
          {typing.length > 0 && `${namesOf(typing)} ${typing.length > 1 ? 'are' : 'is'} typing…`}
        </small>
        <Composer
          label="Message"
          text={sessionStorage.getItem(draftKey) ?? ''}
          onSubmit={(text) => void outbox.send({ room: id, ...toPostText(text) })}
          onChange={(text) => {
            reportTyping(text);
            sessionStorage.setItem(draftKey, text);
          }}
          onEditLast={() => setEditing(shown.findLast(({ author }) => author.id === viewer.id)?.id)}
        />
      </footer>
      {hasDetails && room && <RoomDetails room={room} members={members} onClose={() => setHasDetails(false)} />}
    </>
  );
}

const Busy = () => <div className="posts-frame" aria-busy="true" />;

const Unavailable = () => (
  <div className="empty">
    <h1>This room is not available.</h1>
    <p role="alert">It was deleted, or you are not a member of it.</p>
    <Button onClick={() => location.reload()}>Try again</Button>
    <a href="#rooms">Back to the rooms</a>
  </div>
);
