import { useLazyQuery, useMutation } from '@apollo/client/react';
import {
  AddMemberDocument,
  FindUsersDocument,
  JoinRoomDocument,
  LeaveRoomDocument,
  RemoveMemberDocument,
} from '../gql/graphql.ts';
import type { Room } from '../room.ts';
import { session } from '../session.ts';
import { Button, Failure, Field } from './form.tsx';

type User = Room['members']['nodes'][number];
type UserListProps = { label: string; users: User[]; action: string | false; onPress: (user: User) => unknown };

/** Joins or leaves the room. Its owner stays a member. */
export function Membership({ room: { id, viewerRole } }: { room: Room }) {
  const [join, joined] = useMutation(JoinRoomDocument, { errorPolicy: 'all', variables: { id } });
  const [leave, left] = useMutation(LeaveRoomDocument, { errorPolicy: 'all', variables: { id } });
  return (
    <>
      {viewerRole === null && <Button onClick={() => join()}>Join</Button>}
      {viewerRole === 'MEMBER' && <Button onClick={() => leave()}>Leave</Button>}
      <Failure error={joined.error ?? left.error} />
    </>
  );
}

/** The members of a private room. Its events update them, also after the viewer's own changes. */
export function Members({ room: { id, members, viewerRole } }: { room: Room }) {
  const [findUsers, found] = useLazyQuery(FindUsersDocument, { errorPolicy: 'all' });
  const [addMember, added] = useMutation(AddMemberDocument, { errorPolicy: 'all' });
  const [removeMember, removed] = useMutation(RemoveMemberDocument, { errorPolicy: 'all' });
  const isOwner = viewerRole === 'OWNER';
  const isMember = (user: User) => members.nodes.some((member) => member.id === user.id);
  const others = found.data?.users.data.filter((user) => !isMember(user)) ?? [];
  const add = (user: User) => addMember({ variables: { input: { room: id, user: user.id } } });
  const remove = (user: User) => removeMember({ variables: { input: { room: id, user: user.id } } });
  return (
    <details>
      <summary>Members: {members.nodes.length}</summary>
      <UserList label="Members" users={members.nodes} action={isOwner && 'Remove'} onPress={remove} />
      {isOwner && (
        <form aria-label="Invite" action={(form) => void findUsers({ variables: { name: String(form.get('name')) } })}>
          <Field label="Invite people by name" name="name" type="search" />
          <button type="submit">Find</button>
          <UserList label="People found" users={others} action="Invite" onPress={add} />
        </form>
      )}
      <Failure error={found.error ?? added.error ?? removed.error} />
    </details>
  );
}

function UserList({ label, users, action, onPress }: UserListProps) {
  return (
    <ul aria-label={label}>
      {users.map((user) => (
        <li key={user.id}>
          {user.name}
          {action && user.id !== session?.user.id && (
            <Button aria-label={`${action} ${user.name}`} onClick={() => onPress(user)}>
              {action}
            </Button>
          )}
        </li>
      ))}
    </ul>
  );
}
