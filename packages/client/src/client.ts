import { renewSession as renewSessionText } from './documents.ts';
import { type Failure, failureOf, isTemporary } from './failure.ts';
import { createResume } from './resume.ts';
import { callSafely, type Request, type Result, type Sink, toSafeSink } from './sink.ts';
import { createStore, type Store } from './store.ts';

/**
 * `connecting`: no connection yet. `live`: what the app shows is up to date. `catching up`: the connection is back, and its
 * subscriptions receive what they have missed. `stale`: the connection is lost, and the client tries again. `refused`: it
 * does not try again; `failure` says why.
 */
export type ConnectionState = 'connecting' | 'live' | 'catching up' | 'stale' | 'refused';

export interface Connection {
  state: ConnectionState;
  /** The number of events that were received by the latest catch-up; undefined before the first. */
  caughtUp?: number | undefined;
  /** Why the state is `refused`. */
  failure?: Failure | undefined;
}

/** What this package uses of a client of graphql-ws. */
export interface LiveClient {
  subscribe: <Data>(request: Request, sink: Sink<Data>) => () => void;
  terminate: () => void;
}

export interface PostroomClientOptions<Live extends LiveClient> {
  /** The URL of the server, such as `https://chat.example.org/graphql`; in a page also a path. */
  url: string;
  /** `createClient` of graphql-ws. */
  // biome-ignore lint/suspicious/noExplicitAny: its options depend on the version of graphql-ws.
  createClient: (options: any) => Live;
  /** An access token or an API key, or a function that returns the present one, such as that of an OAuth library. */
  token?: string | undefined | (() => string | undefined | Promise<string | undefined>);
  /**
   * Called with each new token, to store it, and with the token that it replaces: a token is renewed a minute before it
   * expires, while a socket is open.
   */
  onToken?: (token: string, replaced: string | undefined) => void;
  /** Called with the end of each connection and subscription that does not continue by itself. */
  onEnd?: (failure: Failure) => void;
  /** The delay before an attempt to connect again, in milliseconds. */
  retryWaitMs?: (attempt: number) => number;
  /** More options for graphql-ws, such as `webSocketImpl`. */
  webSocket?: Record<string, unknown>;
}

export interface RequestOptions {
  /** Also sends it while the page is being closed, as the option of `fetch` with this name: at most 64 kB. */
  keepalive?: boolean;
}

export interface PostroomClient<Live extends LiveClient = LiveClient> {
  /** The client of graphql-ws, for Apollo Client, urql, Relay or the app itself: its subscriptions resume. */
  readonly live: Live;
  readonly connection: Store<Connection>;
  /** Sends a query or a mutation over HTTP. Rejects with an error for `failureOf` and `retryOf`. */
  request: <Data>(query: string, variables?: Record<string, unknown>, options?: RequestOptions) => Promise<Data>;
  /** Replaces the token, also on the open socket, for example after `changePassword`. */
  setToken: (token: string) => void;
  /** Calls back once, when the subscription to this request object has received all events of the past. */
  onCaughtUp: (request: Request, listener: () => void) => void;
  /**
   * Shows `catching up` instead of `live` while an owner, such as a store, queries again what its events have not brought
   * up to date.
   */
  setQuerying: (owner: object, isQuerying: boolean) => void;
}

/** How long a pong may take before the socket is considered lost, in milliseconds. */
const pongTimeoutMs = 5_000;
const keepAliveMs = 10_000;
const maxRetryWaitMs = 5_000;
const renewEveryMs = 5_000;
/** Longer than the server works on an operation. */
const requestTimeoutMs = 30_000;

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** A connection to Postroom whose subscriptions receive every event once, in order, or end with a reason. */
export function createPostroomClient<Live extends LiveClient>({
  url,
  createClient,
  token: given,
  onToken = () => {},
  onEnd = () => {},
  retryWaitMs = (attempt) => Math.random() * Math.min(maxRetryWaitMs, 500 * 2 ** attempt),
  webSocket,
}: PostroomClientOptions<Live>): PostroomClient<Live> {
  const endpoint = new URL(url, globalThis.location?.href).href;
  const connection = createStore<Connection>({ state: 'connecting' });
  const resume = createResume((events) => {
    caughtUp = events;
    showCaughtUp();
  });
  /** The number of events that the subscriptions of this socket had missed; undefined until they have received them. */
  let caughtUp: number | undefined;
  const querying = new Set<object>();
  let token = typeof given === 'string' ? given : undefined;
  /** The token of the socket. */
  let sent: string | undefined;
  /** Whether the app has replaced it since the latest attempt to connect. */
  let isReplaced = false;
  let attempts = 0;
  let renewedAt = 0;
  let socket: { send: (text: string) => void; onmessage: unknown } | undefined;
  let pong: ReturnType<typeof setTimeout> | undefined;
  /** Whether credentials were refused since the last connection. */
  let wasRefused = false;
  let isRefused = false;

  const authorization = async () => {
    if (typeof given === 'function') token = await given();
    return token === undefined ? {} : { authorization: `Bearer ${token}` };
  };

  async function request<Data>(
    query: string,
    variables = {},
    { keepalive = false }: RequestOptions = {},
  ): Promise<Data> {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/graphql-response+json, application/json',
      ...(await authorization()),
    };
    const body = JSON.stringify({ query, variables });
    const signal = AbortSignal.timeout(requestTimeoutMs);
    const response = await fetch(endpoint, { method: 'POST', headers, body, signal, keepalive });
    const { data, errors } = (await response.json()) as Result<Data>;
    if (data && !errors) return data;
    const { status } = response;
    const requestId = response.headers.get('x-request-id');
    throw Object.assign(new Error(errors?.[0]?.message ?? 'no answer'), { errors, data, status, requestId });
  }

  function sendToken(): void {
    if (token !== undefined)
      socket?.send(JSON.stringify({ type: 'ping', payload: { authorization: `Bearer ${token}` } }));
  }

  function setToken(next: string): void {
    const replaced = token;
    token = next;
    isReplaced = true;
    callSafely(() => onToken(next, replaced));
    sendToken();
  }

  function showCaughtUp(): void {
    if (caughtUp === undefined) return;
    connection.update(querying.size > 0 ? { state: 'catching up' } : { state: 'live', caughtUp });
  }

  function setQuerying(owner: object, isQuerying: boolean): void {
    if (isQuerying) querying.add(owner);
    else if (!querying.delete(owner)) return;
    showCaughtUp();
  }

  /** Tried again until the server closes the socket, because the token has expired. */
  async function renew(): Promise<void> {
    const [old, own] = [token, socket];
    // A token that expires within a minute causes the next ping at once.
    for (let ms = renewedAt + renewEveryMs - Date.now(); socket === own; ms = renewEveryMs) {
      if (ms > 0) await wait(ms);
      renewedAt = Date.now();
      try {
        if (typeof given === 'function') {
          await authorization();
          if (token !== sent) return sendToken();
        } else {
          const { renewSession } = await request<Renewal>(renewSessionText);
          // The app may have set another meanwhile.
          if (token === old) setToken(renewSession.accessToken);
          return;
        }
      } catch (error) {
        if (failureOf(error).action !== 'repeat') return;
      }
    }
  }

  /**
   * Credentials that are refused are tried once more: a change of the viewer's role closes the connection, too, and a
   * function may return another token.
   */
  function isFinal(code: number | undefined): boolean {
    const mayChange = code === 4403 && !wasRefused;
    wasRefused ||= code === 4403;
    return !isTemporary(code) && !mayChange;
  }

  async function connectionParams(): Promise<object> {
    const attempt = attempts;
    try {
      const credentials = await authorization();
      isReplaced = false;
      sent = token;
      return { ...resume.connectionParams(), ...credentials };
    } catch {
      // The function could not return a token now. An error would end all subscriptions.
      if (attempt === attempts) live.terminate();
      return {};
    }
  }

  const live = createClient({
    url: endpoint.replace(/^http/, 'ws'),
    retryAttempts: Number.POSITIVE_INFINITY,
    retryWait: (attempt: number) => wait(retryWaitMs(attempt)),
    shouldRetry: () => !isRefused,
    keepAlive: keepAliveMs,
    // A page that replaces its subscriptions keeps the connection.
    lazyCloseTimeout: 5_000,
    ...webSocket,
    connectionParams,
    jsonMessageReplacer: resume.jsonMessageReplacer,
    on: {
      connecting: () => {
        attempts += 1;
        if (isRefused) connection.update({ state: 'connecting', failure: undefined });
        isRefused = false;
      },
      connected: (opened: typeof socket, payload: unknown, wasRetry: boolean) => {
        // Its subscriptions would begin with the old credentials.
        if (isReplaced) return live.terminate();
        socket = opened;
        wasRefused = false;
        if (wasRetry) connection.update({ state: 'catching up' });
        resume.on.connected(opened, payload, wasRetry);
      },
      closed: (event: { code?: number }) => {
        const wasConnected = socket !== undefined || connection.get().state === 'stale';
        // A socket that was given up, but not closed yet, may receive what its successor receives again.
        if (socket) socket.onmessage = null;
        socket = undefined;
        caughtUp = undefined;
        clearTimeout(pong);
        isRefused = isFinal(event.code);
        // With 1000 the client itself has closed it, because nothing is subscribed.
        const state = isRefused ? 'refused' : wasConnected && event.code !== 1000 ? 'stale' : 'connecting';
        const failure = isRefused ? failureOf(event) : undefined;
        connection.update({ state, failure });
        if (failure) callSafely(() => onEnd(failure));
      },
      ping: (received: boolean, payload?: { expiresAt?: string }) => {
        if (!received) pong = setTimeout(() => live.terminate(), pongTimeoutMs);
        if (payload?.expiresAt) void renew();
        resume.on.ping(received, payload);
      },
      pong: (received: boolean) => received && clearTimeout(pong),
      message: (message: Parameters<typeof resume.on.message>[0]) => {
        if (message.type === 'error') callSafely(() => onEnd(failureOf(message.payload)));
        resume.on.message(message);
      },
    },
  });

  const subscribe = live.subscribe.bind(live);
  live.subscribe = (request, sink) => subscribe(request, toSafeSink(sink));

  return { live, connection, request, setToken, onCaughtUp: resume.onCaughtUp, setQuerying };
}

interface Renewal {
  renewSession: { accessToken: string };
}
