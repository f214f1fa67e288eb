import type { Room, User } from '@postroom/client';
import { useChat } from '../chat.ts';
import { useAction } from '../failures.ts';
import { addMember, deleteRoom, leaveRoom, openDirectRoom, removeMember } from '../operations.ts';
import { UserItem, UserSearch, useOpening } from './room-dialogs.tsx';
import { Button, Dialog, Problem } from './ui.tsx';

/** The members of a room, and what the viewer can do about them and the room. Events update the members. */
export function RoomDetails(props: { room: Room; members: readonly User[]; onClose: () => void }) {
  const { room, members, onClose } = props;
  const { client, viewer } = useChat();
  const isOwner = room.viewerRole === 'OWNER';
  const add = useAction((user: User) => addMember(client, { room: room.id, user: user.id }));
  const dismiss = useAction((user: User) => removeMember(client, { room: room.id, user: user.id }));
  const open = useOpening((user: User) => openDirectRoom(client, user.id), onClose);
  const remove = useOpening(() => deleteRoom(client, room.id).then(() => ''), onClose);
  const leave = useOpening(() => leaveRoom(client, room.id).then(() => ''), onClose);
  const actions = { Message: open.run, ...(isOwner && { Remove: dismiss.run }) };
  return (
    <Dialog title={room.name === 'direct room' ? 'Members' : `Members of ${room.name}`} onClose={onClose}>
      <ul aria-label="Members">
        {members.map((user) => (
          <li key={user.id}>
            <UserItem user={user} actions={user.id === viewer.id ? {} : actions} />
          </li>
        ))}
      </ul>
      {isOwner && (
        <details>
          <summary>Add people</summary>
          <UserSearch actions={{ Add: add.run }} excluded={members} />
        </details>
      )}
      <Problem failure={[add, dismiss, open, leave, remove].find((action) => action.failure)?.failure} />
      {room.viewerRole === 'MEMBER' && <Button onClick={leave.run}>Leave room</Button>}
      {isOwner && (
        <details className="danger">
          <summary>Delete room…</summary>
          <p>It is deleted with all its messages, for everybody. This cannot be undone.</p>
          <Button onClick={remove.run}>Delete for everybody</Button>
        </details>
      )}
    </Dialog>
  );
}
