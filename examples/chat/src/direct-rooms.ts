import type { InboxRoom, User } from '@postroom/client';
import { useEffect, useRef, useState } from 'react';
import { type Chat, useChat } from './chat.ts';
import { addMember, createRoom, findMembers } from './operations.ts';

/*
 * A direct room is a private room of two users, whose name has their ids. Anybody can choose such a name, so a room counts
 * as direct only if its members are the users of its name.
 */

type Users = ReadonlyMap<string, User | null>;

const nameOf = (users: readonly User[]) => ['direct', ...users.map(({ id }) => id).sort()].join(' ');

/** The id of the direct room with the user, which is created at first. */
export async function openDirectRoom({ client, inbox, viewer }: Chat, user: User): Promise<string> {
  const name = nameOf([viewer, user]);
  const known = inbox.get().rooms?.find((room) => room.name === name && room.visibility === 'PRIVATE');
  const room = known?.id ?? (await createRoom(client, name, 'PRIVATE'));
  // Again for a room that exists: the user may have left it, or was not added because the connection failed.
  if (known?.viewerRole !== 'MEMBER') await addMember(client, { room, user: user.id });
  return room;
}

/** The other user of each direct room by the id of the room; null if a room with such a name is not one of its two users. */
export function useDirectUsers(rooms: readonly InboxRoom[] = []): Users {
  const { client, viewer } = useChat();
  const [users, setUsers] = useState<Users>(new Map());
  const queried = useRef(new Set<InboxRoom>());
  useEffect(() => {
    for (const room of rooms) {
      // Each event of a room replaces its object: perhaps the other user is a member now.
      if (!/^direct \S+ \S+$/.test(room.name) || users.get(room.id) || queried.current.has(room)) continue;
      queried.current.add(room);
      const add = (members: User[]) => {
        const other = nameOf(members) === room.name && members.find(({ id }) => id !== viewer.id);
        setUsers((known) => new Map(known).set(room.id, other || null));
      };
      findMembers(client, room.id).then(add, () => queried.current.delete(room));
    }
  }, [rooms, users, client, viewer]);
  return users;
}
