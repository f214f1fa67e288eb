import type { PostroomClient } from './client.ts';
import { followPresence, setTyping } from './documents.ts';
import type { Failure } from './failure.ts';
import { follow } from './follow.ts';
import { createStore, type Store } from './store.ts';
import type { User } from './types.ts';

export interface Presence {
  /** The number of present users, and of anonymous viewers. */
  count: number;
  /** The first 100 of the present users, by name. */
  users: readonly User[];
  /** The first 10 of the users who are typing, by name, also the viewer. */
  typing: readonly User[];
  failure?: Failure | undefined;
}

export interface PresenceStore extends Store<Presence> {
  /** Tells the others that the viewer is typing: call it with each change of the text. An empty text ends it. */
  type: (text: string) => void;
}

/** The server forgets it after five seconds. */
const repeatTypingMs = 3_000;

/** Who is in the room. The viewer is present while the store has listeners. */
export function presenceStore(client: PostroomClient, room: string): PresenceStore {
  let typedAt = 0;
  const store = createStore<Presence>({ count: 0, users: [], typing: [] }, () => {
    const stop = follow<{ roomPresence: Presence }>({
      client,
      query: async () => () => ({ room }),
      subscription: followPresence,
      apply: ({ roomPresence }) => {
        store.update(roomPresence);
        return true;
      },
      onFailure: (failure) => store.update({ failure }),
    });
    return () => {
      type('');
      stop();
    };
  });

  function type(text: string): void {
    const typing = text !== '';
    if (typing ? Date.now() < typedAt + repeatTypingMs : typedAt === 0) return;
    typedAt = typing ? Date.now() : 0;
    const input = { room, typing };
    client.request(setTyping, { input }).catch(() => {});
  }

  return { get: store.get, subscribe: store.subscribe, type };
}
