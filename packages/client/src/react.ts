import { useCallback, useMemo, useSyncExternalStore } from 'react';
import type { Connection, PostroomClient } from './client.ts';
import { type InboxState, type InboxStore, inboxStore } from './inbox-store.ts';
import type { OutboxEntry, OutboxStore } from './outbox-store.ts';
import { type Presence, type PresenceStore, presenceStore } from './presence-store.ts';
import { type RoomState, type RoomStore, type RoomStoreOptions, roomStore } from './room-store.ts';
import type { Store } from './store.ts';

/* For React 19. Each hook follows its store while the component is mounted. */

export function useStore<Value>(store: Store<Value>): Value {
  return useSyncExternalStore(store.subscribe, store.get, store.get);
}

/** The state of the connection. */
export function useConnection(client: PostroomClient): Connection {
  return useStore(client.connection);
}

/** A room, and its store. */
export function useRoom(client: PostroomClient, id: string, options: RoomStoreOptions = {}): [RoomState, RoomStore] {
  const { pageSize, postFields, outbox } = options;
  const store = useMemo(
    () =>
      roomStore(client, id, {
        ...(pageSize && { pageSize }),
        ...(postFields && { postFields }),
        ...(outbox && { outbox }),
      }),
    [client, id, pageSize, postFields, outbox],
  );
  return [useStore(store), store];
}

/** The rooms of the viewer. Create the store once if several components use it, and follow it with `useStore`. */
export function useInbox(client: PostroomClient): [InboxState, InboxStore] {
  const store = useMemo(() => inboxStore(client), [client]);
  return [useStore(store), store];
}

/** The entries of an outbox, of one room or of all. */
export function useOutbox(outbox: OutboxStore, room?: string): readonly OutboxEntry[] {
  const { entries } = useStore(outbox);
  return useMemo(() => entries.filter((entry) => room === undefined || entry.room === room), [entries, room]);
}

/** Who is in the room, and a function to call with each change of a text that the viewer types. */
export function usePresence(client: PostroomClient, room: string): [Presence, PresenceStore['type']] {
  const store = useMemo(() => presenceStore(client, room), [client, room]);
  return [useStore(store), useCallback((text: string) => store.type(text), [store])];
}
