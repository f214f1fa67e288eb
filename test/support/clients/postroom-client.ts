import { createClient } from 'graphql-ws';
import { onTestFinished } from 'vitest';
import {
  createPostroomClient,
  type Failure,
  type PostroomClient,
  type PostroomClientOptions,
  type Store,
} from '../../../packages/client/src/index.ts';

type Options = Partial<Omit<PostroomClientOptions<ReturnType<typeof createClient>>, 'createClient'>>;

export interface OpenedClient extends PostroomClient<ReturnType<typeof createClient>> {
  /** What `onEnd` was called with. */
  ends: Failure[];
  /** The states of the connection, in order. */
  states: string[];
}

/** A client of the package that connects again at once, until the end of the test. */
export function openClient(url: string, options: Options = {}): OpenedClient {
  const ends: Failure[] = [];
  const client = createPostroomClient({
    url,
    createClient,
    retryWaitMs: () => 20,
    onEnd: (failure) => ends.push(failure),
    ...options,
  });
  const states: string[] = [client.connection.get().state];
  client.connection.subscribe(() => {
    const { state } = client.connection.get();
    if (state !== states.at(-1)) states.push(state);
  });
  onTestFinished(() => client.live.dispose());
  return Object.assign(client, { ends, states });
}

/** Follows a store until the end of the test. */
export function open<Value, Opened extends Store<Value>>(store: Opened & Store<Value>): Opened {
  onTestFinished(store.subscribe(() => {}));
  return store;
}

/** Resolves with the value of a store as soon as the check passes. */
export function until<Value>(store: Store<Value>, check: (value: Value) => unknown): Promise<Value> {
  return new Promise((resolve) => {
    const test = () => {
      if (!check(store.get())) return;
      stop();
      resolve(store.get());
    };
    const stop = store.subscribe(() => test());
    test();
  });
}
