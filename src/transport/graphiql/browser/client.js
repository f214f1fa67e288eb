/** Sends operations with the given headers. If they contain no credentials, it uses those of the session. */
export class Client {
  #endpoint;
  #session;

  constructor(endpoint, session) {
    this.#endpoint = endpoint;
    this.#session = session;
  }

  /** Sends an operation over HTTP, and returns its result. Starts a session if the result contains a token. */
  async post(request, headers = {}) {
    const result = await this.#postWithSession(request, headers);
    const token = Object.values(result.data ?? {}).find((payload) => payload?.accessToken)?.accessToken;
    if (token) this.#session.start(token, await this.#nameOf(token));
    return result;
  }

  async #postWithSession(request, headers) {
    const { token } = this.#session;
    if (!token || authorizationOf(headers)) return (await this.#send(request, headers)).result;
    const answer = await this.#send(request, withToken(token, headers));
    if (!isRefused(answer)) return answer.result;
    this.#session.refuse(token);
    // Nothing was done, and signIn, for example, needs no credentials.
    return (await this.#send(request, headers)).result;
  }

  async #nameOf(token) {
    const { result } = await this.#send({ query: '{ viewer { name } }' }, withToken(token));
    return result.data?.viewer?.name;
  }

  async #send(request, given) {
    const headers = new Headers(given);
    headers.set('content-type', 'application/json');
    headers.set('accept', 'application/graphql-response+json, application/json');
    const response = await fetch(this.#endpoint, { method: 'POST', headers, body: JSON.stringify(request) });
    return { status: response.status, result: await response.json() };
  }

  /**
   * Creates a stream over its own WebSocket, with the name of its operation, which resumes after its last event when the server is back. It starts with
   * the first sink; a later sink replaces it.
   */
  stream(request, headers = {}) {
    const session = this.#session;
    const typed = authorizationOf(headers);
    const seen = {};
    let wasConnected = false;
    let token;
    const socket = graphqlWs.createClient({
      url: this.#endpoint.href.replace(/^http/, 'ws'),
      connectionParams: () => {
        token = typed ? undefined : session.token;
        return { authorization: typed ?? (token && `Bearer ${token}`), live: { seen } };
      },
      // Refused credentials stay refused. A failed attempt to connect has no close code; it is retried if the server was
      // reached before.
      shouldRetry: ({ code }) => (code === undefined ? wasConnected : code !== graphqlWs.CloseCode.Forbidden),
      on: {
        connected: () => {
          wasConnected = true;
        },
        closed: ({ code }) => {
          if (token && code === graphqlWs.CloseCode.Forbidden) session.refuse(token);
        },
        ping: (_received, payload) => Object.assign(seen, payload?.live),
        message: ({ type, id, payload }) => {
          const { room, cursor } = payload?.extensions?.live ?? {};
          if (type !== 'next' || cursor === undefined) return;
          if (room === undefined) seen[id] = cursor;
          else seen[id][room] = cursor;
        },
      },
    });
    let sink;
    let unsubscribe;
    const stop = () => {
      session.removeEventListener('signOut', onSignOut);
      unsubscribe();
    };
    const onSignOut = () => token && stop();
    const start = () => {
      session.addEventListener('signOut', onSignOut);
      unsubscribe = socket.subscribe(request, {
        next: (result) => sink.next(result),
        error: (fault) => sink.error(toReadable(fault)),
        complete: () => sink.complete(),
      });
    };
    const sendTo = (next) => {
      sink = next;
      if (!unsubscribe) start();
    };
    return { name: request.operationName ?? 'Subscription', sendTo, stop };
  }
}

function withToken(token, given) {
  const headers = new Headers(given);
  headers.set('authorization', `Bearer ${token}`);
  return headers;
}

function authorizationOf(headers) {
  return new Headers(headers).get('authorization');
}

/** Whether the credentials were refused. An error of a field, for example a wrong password, has a path. */
function isRefused({ status, result }) {
  return status === 401 && result.errors?.[0]?.path === undefined;
}

/** GraphiQL cannot print an event of the browser. */
function toReadable(fault) {
  if (fault instanceof CloseEvent) return { message: `The WebSocket was closed: ${fault.code} ${fault.reason}` };
  return fault instanceof Event ? { message: 'The WebSocket could not be opened.' } : fault;
}
