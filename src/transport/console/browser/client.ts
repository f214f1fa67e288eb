import type { ConsoleOperation } from './operations.ts';
import type { ConsoleSession } from './session.ts';

/** The server sends at least a comment every 12 seconds. */
const silenceMs = 20_000;

/** An error that the server answered. */
export class ConsoleRequestError extends Error {
  readonly code: string;

  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }
}

interface Result<Data> {
  data?: Data | null;
  errors?: { message: string; extensions: { code: string } }[];
}

/** Sends operations with the token of the session, and ends the session if the server refuses it. */
export class ConsoleClient {
  readonly #endpoint: URL;
  readonly #session: ConsoleSession;

  constructor(endpoint: URL, session: ConsoleSession) {
    this.#endpoint = endpoint;
    this.#session = session;
  }

  /** @throws ConsoleRequestError, or a TypeError if the server cannot be reached. */
  async post<Data, Variables>(operation: ConsoleOperation<Data, Variables>, variables: Variables): Promise<Data> {
    const { token } = this.#session;
    const accept = 'application/graphql-response+json';
    const response = await this.#send({ query: operation.text, variables }, { token, accept });
    const result: Result<Data> = await response.json();
    if (result.errors || !result.data) throw this.#refuse(result, token);
    return result.data;
  }

  /**
   * Yields the results of a subscription, until the stream ends.
   * @throws ConsoleRequestError, a TypeError if the server cannot be reached, or an AbortError.
   */
  async *stream<Data>({ text: query }: ConsoleOperation<Data>, signal: AbortSignal): AsyncGenerator<Data> {
    const { token } = this.#session;
    const silence = new AbortController();
    const expect = () => setTimeout(() => silence.abort(), silenceMs);
    let timer = expect();
    try {
      const either = AbortSignal.any([signal, silence.signal]);
      const response = await this.#send({ query }, { token, accept: 'text/event-stream', signal: either });
      if (!response.ok || !response.body) throw this.#refuse(await response.json(), token);
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let unread = '';
      for (let { value, done } = await reader.read(); !done; { value, done } = await reader.read()) {
        clearTimeout(timer);
        timer = expect();
        const events = `${unread}${value}`.split('\n\n');
        unread = events.pop() ?? '';
        for (const event of events) {
          const [, data] = /^data: (.+)$/m.exec(event) ?? [];
          if (data) yield readOrThrow<Data>(JSON.parse(data));
        }
      }
    } finally {
      clearTimeout(timer);
      silence.abort();
    }
  }

  #send(request: object, sent: { token: string | undefined; accept: string; signal?: AbortSignal }): Promise<Response> {
    const { token, accept, signal = null } = sent;
    const headers = {
      'content-type': 'application/json',
      accept,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    };
    return fetch(this.#endpoint, { method: 'POST', headers, body: JSON.stringify(request), signal });
  }

  #refuse(result: Result<unknown>, token: string | undefined): ConsoleRequestError {
    const requestError = toRequestError(result);
    // The token may have been renewed since the operation was sent, and the session may have ended.
    if (token === undefined || token !== this.#session.token) return requestError;
    const { code } = requestError;
    if (code === 'UNAUTHENTICATED') this.#session.end('Your session has expired or was revoked. Sign in again.');
    if (code === 'FORBIDDEN') this.#session.end(notAdmin(this.#session.name));
    return requestError;
  }
}

/**
 * A state may have errors beside its data: while the database is down, no room can be read. The error of a stream says
 * that its credentials have changed; the next request says how.
 */
function readOrThrow<Data>(result: Result<Data>): Data {
  if (!result.data) throw toRequestError(result);
  return result.data;
}

function toRequestError({ errors: [error] = [] }: Result<unknown>): ConsoleRequestError {
  return new ConsoleRequestError(error?.message ?? 'The answer has no data.', error?.extensions.code ?? '');
}

export function notAdmin(name: string): string {
  return `${name} is not an admin. Only accounts with the role ADMIN can use the console.`;
}
