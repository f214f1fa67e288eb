import { type Client, createClient } from 'graphql-ws';
import { createPostroomClient, type PostroomClient } from '../../client/src/client.ts';
import { type Failure, failureOf } from '../../client/src/failure.ts';
import { follow } from '../../client/src/follow.ts';
import type { PageSession } from '../session.ts';
import { type ConsoleOperation, type Status, statusChanges } from './operations.ts';

/** A stream that was refused for a reason that an operator may mend is tried again after this time. */
const retryRefusedMs = 10_000;

/** Whether the status that the page shows is that of now. */
type StreamState = 'Connecting…' | 'Live' | 'Reconnecting…';

interface StatusSink {
  show: (status: Status) => void;
  /** `reason` is the message of the server if it refused the stream. */
  showState: (state: StreamState, reason?: string) => void;
}

/** What the console asks the server, with the credentials of its session. A session ends when they are refused. */
export class ConsoleClient {
  readonly #endpoint: URL;
  readonly #session: PageSession;
  /** Of the present session, or of the form that starts one. */
  #postroom: PostroomClient<Client>;

  constructor(endpoint: URL, session: PageSession) {
    this.#endpoint = endpoint;
    this.#session = session;
    this.#postroom = this.#open();
  }

  /** @throws an error for `failureOf`. */
  async post<Data, Variables extends Record<string, unknown>>(
    { text }: ConsoleOperation<Data, Variables>,
    variables: Variables,
  ): Promise<Data> {
    const postroom = this.#postroom;
    try {
      return await postroom.request<Data>(text, variables);
    } catch (error) {
      if (postroom === this.#postroom) this.#endSession(failureOf(error));
      throw error;
    }
  }

  /** Connects with the credentials of the session, and follows the status until the result is called. */
  follow({ show, showState }: StatusSink): () => void {
    const postroom = this.#open();
    this.#postroom = postroom;
    let reason = '';
    let timer: ReturnType<typeof setTimeout>;
    const update = () => {
      const { state } = postroom.connection.get();
      if (reason) showState('Reconnecting…', reason);
      else if (state === 'connecting') showState('Connecting…');
      else showState(state === 'live' ? 'Live' : 'Reconnecting…');
    };
    const start = () =>
      follow<{ serverStatusChanged: Status }>({
        client: postroom,
        query: async () => () => ({}),
        subscription: statusChanges.text,
        apply: ({ serverStatusChanged }) => {
          reason = '';
          update();
          show(serverStatusChanged);
          return true;
        },
        onFailure: (failure) => {
          if (!failure || this.#endSession(failure)) return;
          reason = failure.code === 'NO_ANSWER' ? '' : failure.message;
          update();
          if (failure.action === 'repeat') return;
          timer = setTimeout(() => {
            stop();
            stop = start();
          }, retryRefusedMs);
        },
      });
    const unsubscribe = postroom.connection.subscribe(update);
    update();
    let stop = start();
    return () => {
      clearTimeout(timer);
      unsubscribe();
      stop();
      void postroom.live.dispose();
      this.#postroom = this.#open();
    };
  }

  #open(): PostroomClient<Client> {
    const { token } = this.#session;
    return createPostroomClient({
      url: this.#endpoint.href,
      createClient,
      token,
      onToken: (to, from) => this.#session.renew(to, from),
    });
  }

  /** Returns false if the session continues. */
  #endSession({ code }: Failure): boolean {
    const isSignedIn = this.#session.token !== undefined;
    if (!isSignedIn || (code !== 'UNAUTHENTICATED' && code !== 'FORBIDDEN')) return false;
    const expired = 'Your session has expired or was revoked. Sign in again.';
    this.#session.end(code === 'FORBIDDEN' ? notAdmin(this.#session.name) : expired);
    return true;
  }
}

export function notAdmin(name: string): string {
  return `${name} is not an admin. Only accounts with the role ADMIN can use the console.`;
}
