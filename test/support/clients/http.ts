import { once } from 'node:events';
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import type { Postroom, ReplyError } from '../server/postroom.ts';

export const graphqlResponse = 'application/graphql-response+json';

export interface HttpAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
  // biome-ignore lint/suspicious/noExplicitAny: its shape is the query's.
  data: any;
  errors: ReplyError[] | undefined;
  /** The first error's code. */
  code: string | undefined;
}

export interface HttpQuestion {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

/** Sends the request as given; only `Host`, `Connection` and the length are added. */
export async function exchange(postroom: Pick<Postroom, 'url'>, question: HttpQuestion): Promise<HttpAnswer> {
  const { method = 'GET', path = '/graphql', headers = {}, body } = question;
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const sent = request(`${postroom.url}${path}`, { method, headers: { ...length, ...headers }, agent: false });
  const answered = once(sent, 'response');
  sent.end(body);
  const [response] = await answered;
  return toAnswer(response.statusCode, response.headers, await text(response));
}

/** Sends a GraphQL request by POST; `given` adds or replaces members of the body. */
export function post(
  postroom: Postroom,
  query: string,
  { headers, ...given }: { headers?: Record<string, string>; [key: string]: unknown } = {},
): Promise<HttpAnswer> {
  return exchange(postroom, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: graphqlResponse, ...headers },
    body: JSON.stringify({ query, ...given }),
  });
}

/** Sends a GraphQL request by GET. */
export function get(
  postroom: Postroom,
  parameters: Record<string, string>,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<HttpAnswer> {
  const path = `/graphql?${new URLSearchParams(parameters)}`;
  return exchange(postroom, { method, path, headers: { accept: graphqlResponse, ...headers } });
}

function toAnswer(status: number, headers: IncomingHttpHeaders, body: string): HttpAnswer {
  const isJson = /json/.test(headers['content-type'] ?? '') && body !== '';
  const { data, errors } = isJson ? JSON.parse(body) : { data: undefined, errors: undefined };
  return { status, headers, body, data, errors, code: errors?.[0]?.extensions?.code };
}

/** A POST of a GraphQL request, as sent on the wire. */
export function postOf(query: string): string {
  const body = JSON.stringify({ query });
  return `POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** A WebSocket handshake, as sent on the wire. */
export const handshake = [
  'GET /graphql HTTP/1.1',
  'Host: localhost',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Protocol: graphql-transport-ws',
  '\r\n',
].join('\r\n');

/** A TCP connection that can send any bytes. */
export class RawConnection {
  readonly #socket: Socket;
  #received = Buffer.alloc(0);
  #isClosed = false;
  #changed = Promise.withResolvers<void>();

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#isClosed = true;
      this.#wake();
    });
  }

  /** Opens a connection, which is closed after the test or by the server. */
  static async open({ url }: Pick<Postroom, 'url'>, localAddress?: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    const socket = connect({ port: Number(port), host: hostname, ...(localAddress && { localAddress }) });
    onTestFinished(() => void socket.destroy());
    const connection = new RawConnection(socket);
    await once(socket, 'connect');
    return connection;
  }

  /** Sends the bytes unchanged; each character of a string is one byte. */
  send(bytes: string | Buffer): void {
    this.#socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  }

  leave(): void {
    this.#socket.destroy();
  }

  /** Leaves with a reset instead of the end of the stream. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  /** Stops reading from the socket. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** The status of the next response; does not wait for the body. */
  async receiveStatus(): Promise<number> {
    const line = await this.#take(() => this.#received.indexOf('\r\n') + 2);
    return Number(line.split(' ')[1]);
  }

  /**
   * The next complete response; without a content length it has no body. @throws Error if the connection ends before
   * that.
   */
  async receive(): Promise<HttpAnswer> {
    const head = await this.#take(() => this.#received.indexOf('\r\n\r\n') + 4);
    const [line = '', ...fields] = head.trimEnd().split('\r\n');
    const headers = Object.fromEntries(
      fields.map((field) => [
        field.slice(0, field.indexOf(':')).toLowerCase(),
        field.slice(field.indexOf(':') + 1).trim(),
      ]),
    );
    const length = Number(headers['content-length'] ?? 0);
    const body = length === 0 ? '' : await this.#take(() => (this.#received.length >= length ? length : 3));
    return toAnswer(Number(line.split(' ')[1]), headers, body);
  }

  /** Resolves when the server has closed the connection, with the bytes not yet taken. */
  async closed(): Promise<string> {
    while (!this.#isClosed) await this.#changed.promise;
    return String(this.#received);
  }

  /** Takes the number of bytes that `measure` returns, once it is more than three. */
  async #take(measure: () => number): Promise<string> {
    while (measure() <= 3) {
      if (this.#isClosed) throw new Error(`The connection ended behind ${JSON.stringify(String(this.#received))}.`);
      await this.#changed.promise;
    }
    const length = measure();
    const taken = this.#received.subarray(0, length);
    this.#received = this.#received.subarray(length);
    return String(taken);
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

export interface UnchangedAnswer {
  status: number | undefined;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Unlike `fetch`, adds no `Accept` or `Accept-Encoding` header, and does not decompress the body. */
export async function requestUnchanged(
  url: string,
  { method, headers }: { method: string; headers: OutgoingHttpHeaders },
): Promise<UnchangedAnswer> {
  const sent = request(url, { method, headers, agent: false }).end();
  const [response] = await once(sent, 'response');
  return { status: response.statusCode, headers: response.headers, body: await buffer(response) };
}
