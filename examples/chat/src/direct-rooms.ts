import type { InboxRoom, User } from '@postroom/client';
import { useEffect, useRef, useState } from 'react';
import { type Chat, useChat } from './chat.ts';
import { findDirectUsers, openDirect } from './operations.ts';

type Users = ReadonlyMap<string, User | null>;

/** The id of the direct room with the user: there is one for each two users. */
export const openDirectRoom = ({ client }: Chat, { id }: User): Promise<string> => openDirect(client, id);

/** The other user of each direct room by the id of the room; null if the other user has left it. */
export function useDirectUsers(rooms: readonly InboxRoom[] = []): Users {
  const { client, viewer } = useChat();
  const [users, setUsers] = useState<Users>(new Map());
  const queried = useRef(new Set<InboxRoom | string>());
  useEffect(() => {
    for (const room of rooms) {
      // A direct room has no owner. Each event of a room replaces its object: perhaps the other user is a member again.
      if (room.visibility !== 'PRIVATE' || room.viewerRole !== 'MEMBER' || users.get(room.id)) continue;
      if (queried.current.has(room) || queried.current.has(room.id)) continue;
      queried.current.add(room);
      const add = (members: User[] | null) => {
        if (!members || members.length > 2) return queried.current.add(room.id);
        setUsers((known) => new Map(known).set(room.id, members.find(({ id }) => id !== viewer.id) ?? null));
      };
      findDirectUsers(client, room.id).then(add, () => queried.current.delete(room));
    }
  }, [rooms, users, client, viewer]);
  return users;
}
