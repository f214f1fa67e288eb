import { callSafely } from './sink.ts';

/** The cursors of one subscription: of a room, or of an inbox by room and user. */
type Seen = string | Record<string, string> | undefined;

/** `extensions.live` of a message. */
interface LiveExtension {
  cursor?: string;
  /** In an inbox: the room of `cursor`. */
  room?: string;
  /** The last message of the room. */
  ended?: boolean;
  /** Cursors that replace those of other rooms, and that of the user. */
  cursors?: Record<string, string>;
}

/** A message of graphql-ws, as far as it concerns a subscription that resumes. */
interface Message {
  type: string;
  id?: string;
  // biome-ignore lint/suspicious/noExplicitAny: its shape depends on the type of the message.
  payload?: any;
}

export interface Resume {
  connectionParams: () => { live: { seen: Record<string, Seen> } };
  on: {
    connected: (socket: unknown, payload: unknown, wasRetry: boolean) => void;
    ping: (received: boolean, payload: unknown) => void;
    message: (message: Message) => void;
  };
  jsonMessageReplacer: (key: string, value: unknown) => unknown;
  /** Calls back once, when the subscription with this payload has received all events of the past. */
  onCaughtUp: (payload: object, listener: () => void) => void;
}

/** The end of a catch-up: the number of events that its subscriptions have received since they were subscribed again. */
export type OnCaughtUp = (events: number) => void;

/**
 * Options for `createClient` of graphql-ws: its subscriptions resume after the last event that they received. `onCaughtUp`
 * is called when all subscriptions of a new connection have received what they had missed.
 */
export function createResume(onCaughtUp: OnCaughtUp = () => {}): Resume {
  /** By the id of each operation that is active. */
  const seen = new Map<string, Seen>();
  /** The ids of the last connection that were not subscribed again. */
  const stale = new Set<string>();
  /** The ids that were subscribed again, and have not received all that they had missed. */
  const catchingUp = new Set<string>();
  const listeners = new Map<string, () => void>();
  /** By the payload of an operation that was not subscribed yet, and may never be. */
  const waiting = new WeakMap<object, () => void>();
  let events = 0;

  function see(id: string, { room, cursor, ended, cursors }: LiveExtension): void {
    if (!seen.has(id)) return;
    if (room === undefined) return void seen.set(id, cursor);
    const rooms = (seen.get(id) ?? {}) as Record<string, string>;
    if (ended) delete rooms[room];
    else if (cursor !== undefined) rooms[room] = cursor;
    seen.set(id, Object.assign(rooms, cursors));
  }

  function endCatchUp(id: string): void {
    const listener = listeners.get(id);
    listeners.delete(id);
    if (listener) callSafely(listener);
    if (catchingUp.delete(id) && catchingUp.size === 0) onCaughtUp(events);
  }

  function forget(id: string): void {
    seen.delete(id);
    listeners.delete(id);
    endCatchUp(id);
  }

  /** All operations that continue were subscribed again before the first answer to one of them. */
  function forgetStale(): void {
    for (const id of stale) forget(id);
    stale.clear();
  }

  return {
    connectionParams: () => ({ live: { seen: Object.fromEntries(seen) } }),
    on: {
      connected: (_socket, _payload, wasRetry) => {
        events = 0;
        catchingUp.clear();
        for (const id of seen.keys()) {
          stale.add(id);
          if (wasRetry) catchingUp.add(id);
        }
        if (catchingUp.size === 0) onCaughtUp(0);
      },
      ping: (_received, payload) => {
        // biome-ignore lint/suspicious/noExplicitAny: each part of the payload is optional.
        const { live = {}, cursors = {}, replays = [], caughtUp = [] } = (payload ?? {}) as any;
        for (const [id, cursor] of Object.entries(live)) {
          forgetStale();
          if (seen.has(id)) seen.set(id, cursor as Seen);
          if (!replays.includes(id)) endCatchUp(id);
        }
        for (const [id, own] of Object.entries(cursors)) Object.assign(seen.get(id) ?? {}, own);
        for (const id of caughtUp) endCatchUp(id);
      },
      message: ({ type, id = '', payload }) => {
        // Any other message may arrive before they were subscribed again.
        if (id !== '') forgetStale();
        if (type === 'error' || type === 'complete') return forget(id);
        if (type !== 'next') return;
        const live: LiveExtension | undefined = payload?.extensions?.live;
        // A stream without a cursor begins with its latest state.
        if (!live) return endCatchUp(id);
        if (catchingUp.has(id)) events += 1;
        see(id, live);
      },
    },
    // Called with each message that the client sends.
    jsonMessageReplacer: (key, value) => {
      if (key !== '') return value;
      const { id = '', type, payload } = value as Message;
      stale.delete(id);
      if (type === 'complete') forget(id);
      if (type !== 'subscribe') return value;
      seen.set(id, seen.get(id));
      const listener = waiting.get(payload);
      waiting.delete(payload);
      if (listener) listeners.set(id, listener);
      return value;
    },
    onCaughtUp: (payload, listener) => waiting.set(payload, listener),
  };
}
