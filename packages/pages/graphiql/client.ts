import { createClient } from 'graphql-ws';
import { type Connection, createPostroomClient } from '../../client/src/client.ts';
import type { Request, Result, Sink } from '../../client/src/sink.ts';
import type { Store } from '../../client/src/store.ts';
import type { PageSession } from '../session.ts';

type Headers = Record<string, string> | globalThis.Headers;

interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: its shape is that of the user's operation.
  result: Result<any>;
}

/** A subscription on a WebSocket of its own. */
export interface LiveStream {
  /** The name of its operation. */
  name: string;
  connection: Store<Connection>;
  /** It starts with the first sink; a later sink replaces it. */
  sendTo: (sink: Sink<unknown>) => void;
  stop: () => void;
}

/** Sends operations with the given headers. If they contain no credentials, it uses those of the session. */
export class Client {
  readonly #endpoint: URL;
  readonly #session: PageSession;

  constructor(endpoint: URL, session: PageSession) {
    this.#endpoint = endpoint;
    this.#session = session;
  }

  /** Sends an operation over HTTP, and returns its result. Starts a session if the result contains a token. */
  async post(request: Request, headers: Headers = {}): Promise<Answer['result']> {
    const result = await this.#postWithSession(request, headers);
    const payloads = Object.values<{ accessToken?: string } | null>(result.data ?? {});
    const token = payloads.find((payload) => payload?.accessToken)?.accessToken;
    if (token) this.#session.start(token, await this.#nameOf(token));
    return result;
  }

  async #postWithSession(request: Request, headers: Headers): Promise<Answer['result']> {
    const { token } = this.#session;
    if (!token || authorizationOf(headers)) return (await this.#send(request, headers)).result;
    const answer = await this.#send(request, withToken(token, headers));
    if (!isRefused(answer)) return answer.result;
    this.#session.refuse(token);
    // Nothing was done, and signIn, for example, needs no credentials.
    return (await this.#send(request, headers)).result;
  }

  async #nameOf(token: string): Promise<string | undefined> {
    const { result } = await this.#send({ query: '{ viewer { name } }' }, withToken(token));
    return result.data?.viewer?.name;
  }

  async #send(request: Request, given: Headers): Promise<Answer> {
    const headers = new Headers(given);
    headers.set('content-type', 'application/json');
    headers.set('accept', 'application/graphql-response+json, application/json');
    const response = await fetch(this.#endpoint, { method: 'POST', headers, body: JSON.stringify(request) });
    return { status: response.status, result: await response.json() };
  }

  stream(request: Request, headers: Headers = {}): LiveStream {
    const session = this.#session;
    const typed = authorizationOf(headers)?.replace(/^bearer +/i, '');
    /** The user may sign in as somebody else meanwhile. */
    let own = typed ?? session.token;
    const { live, connection } = createPostroomClient({
      url: this.#endpoint.href,
      createClient,
      token: own,
      onToken: (to, from) => {
        if (!typed) session.renew(to, from);
        own = to;
      },
      onEnd: ({ code }) => {
        if (code === 'UNAUTHENTICATED' && !typed && own) session.refuse(own);
      },
    });
    const usesSession = !typed && session.token !== undefined;
    let sink: Sink<unknown>;
    let unsubscribe: (() => void) | undefined;
    const stop = () => {
      session.removeEventListener('change', onChange);
      unsubscribe?.();
    };
    /** The user has signed out. A session that was refused ends its streams with an error. */
    const onChange = (event: Event) => {
      if (usesSession && !session.token && event instanceof CustomEvent && event.detail === '') stop();
    };
    const start = () => {
      session.addEventListener('change', onChange);
      unsubscribe = live.subscribe(request, {
        next: (result) => sink.next(result as Result),
        error: (fault) => sink.error(toReadable(fault)),
        complete: () => sink.complete(),
      });
    };
    const sendTo = (next: Sink<unknown>) => {
      sink = next;
      if (!unsubscribe) start();
    };
    return { name: request.operationName ?? 'Subscription', connection, sendTo, stop };
  }
}

function withToken(token: string, given: Headers = {}): globalThis.Headers {
  const headers = new Headers(given);
  headers.set('authorization', `Bearer ${token}`);
  return headers;
}

function authorizationOf(headers: Headers): string | null {
  return new Headers(headers).get('authorization');
}

/** Whether the credentials were refused. An error of a field, for example a wrong password, has a path. */
function isRefused({ status, result }: Answer): boolean {
  const [error] = (result.errors ?? []) as readonly { path?: unknown }[];
  return status === 401 && error?.path === undefined;
}

/** GraphiQL cannot print an event of the browser. */
function toReadable(fault: unknown): unknown {
  if (fault instanceof CloseEvent) return { message: `The WebSocket was closed: ${fault.code} ${fault.reason}` };
  return fault instanceof Event ? { message: 'The WebSocket could not be opened.' } : fault;
}
