import { once } from 'node:events';
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Server } from './server.ts';
import { defaultTimeoutMs, within } from './waiting.ts';

export interface Reply {
  status: number;
  headers: IncomingMessage['headers'];
  text: string;
  bytes: number;
  // biome-ignore lint/suspicious/noExplicitAny: its shape is the query's.
  data: any;
  /** The code of the first error. */
  code: string | undefined;
  message: string | undefined;
}

interface RequestOptions {
  token?: string | undefined;
  headers?: Record<string, string>;
  timeoutMs?: number;
}

/** An HTTP client with its own address and keep-alive connections. */
export class HttpClient {
  readonly address: string;
  readonly #server: Server;
  readonly #agent: Agent;

  constructor(server: Server, address = '127.0.0.1', maxSockets = 8) {
    this.#server = server;
    this.address = address;
    this.#agent = new Agent({ keepAlive: true, maxSockets });
  }

  /** POST /graphql. */
  async send(query: string, variables: Record<string, unknown> = {}, options: RequestOptions = {}): Promise<Reply> {
    const { token, headers = {}, timeoutMs = defaultTimeoutMs } = options;
    const call = this.request({
      method: 'POST',
      path: '/graphql',
      headers: {
        'content-type': 'application/json',
        accept: 'application/graphql-response+json',
        ...(token && { authorization: `Bearer ${token}` }),
        ...headers,
      },
    });
    return within(timeoutMs, 'an answer', readReply(call, JSON.stringify({ query, variables })));
  }

  /** Returns the data of an operation. @throws Error when the operation fails. */
  // biome-ignore lint/suspicious/noExplicitAny: its shape is the query's.
  async ask(query: string, variables: Record<string, unknown> = {}, token?: string): Promise<any> {
    const reply = await this.send(query, variables, { token });
    if (reply.code || reply.status !== 200) throw new Error(`${query.slice(0, 80)}: ${reply.text.slice(0, 300)}`);
    return reply.data;
  }

  async get(path: string, headers: Record<string, string> = {}, timeoutMs = defaultTimeoutMs): Promise<Reply> {
    return within(timeoutMs, `GET ${path}`, readReply(this.request({ method: 'GET', path, headers })));
  }

  /** Undefined when there is no answer within two seconds. */
  async statusOf(path: string): Promise<number | undefined> {
    return this.get(path, {}, 2_000).then(
      ({ status }) => status,
      () => undefined,
    );
  }

  /** A request whose body the attack sends itself. */
  request(options: { method: string; path: string; headers?: Record<string, string> }): ClientRequest {
    const { port } = this.#server;
    const call = request({ host: '127.0.0.1', port, localAddress: this.address, agent: this.#agent, ...options });
    call.on('error', () => {});
    return call;
  }

  close(): void {
    this.#agent.destroy();
  }
}

async function readReply(call: ClientRequest, body?: string): Promise<Reply> {
  const answered = once(call, 'response');
  call.end(body);
  const [response] = (await answered) as [IncomingMessage];
  const bytes = await buffer(response);
  // A larger answer is only counted, not parsed.
  const text = bytes.length > 20_000_000 ? '' : bytes.toString();
  const { data, errors } = /json/.test(response.headers['content-type'] ?? '') && text ? JSON.parse(text) : {};
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text,
    bytes: bytes.length,
    data,
    code: errors?.[0]?.extensions?.code,
    message: errors?.[0]?.message,
  };
}
