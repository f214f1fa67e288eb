import { once } from 'node:events';
import type { Socket } from 'node:net';
import WebSocket from 'ws';
import type { Server } from './server.ts';
import { defaultTimeoutMs, until, within } from './waiting.ts';

export interface Message {
  type: string;
  id?: string;
  // biome-ignore lint/suspicious/noExplicitAny: its shape is the operation's.
  payload?: any;
}

export interface SocketOptions {
  address?: string;
  /** The payload of `connection_init`. */
  params?: Record<string, unknown>;
  /** Whether the messages are stored; a flood only needs their counts. */
  keepsMessages?: boolean;
}

/** A minimal graphql-transport-ws client that gives the attack control of the raw socket. */
export class WebSocketClient {
  readonly webSocket: WebSocket;
  readonly received: Message[] = [];
  /** The number of messages by type, and of errors by code. */
  readonly counts: Record<string, number> = {};
  closeCode: number | undefined;

  constructor({ port }: Server, { address = '127.0.0.1', keepsMessages = true }: SocketOptions) {
    this.webSocket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, 'graphql-transport-ws', {
      localAddress: address,
    });
    this.webSocket.on('error', () => {});
    this.webSocket.on('close', (code) => {
      this.closeCode = code;
    });
    this.webSocket.on('message', (data) => this.#receive(JSON.parse(String(data)), keepsMessages));
  }

  /** Resolves when the connection is acknowledged or closed; see `closeCode`. */
  static async open(server: Server, options: SocketOptions = {}): Promise<WebSocketClient> {
    const socket = new WebSocketClient(server, options);
    const { webSocket } = socket;
    await within(defaultTimeoutMs, 'a handshake', Promise.race([once(webSocket, 'open'), once(webSocket, 'close')]));
    socket.send({ type: 'connection_init', payload: options.params ?? {} });
    await until(defaultTimeoutMs, () => socket.isAcknowledged || socket.closeCode !== undefined);
    return socket;
  }

  get isAcknowledged(): boolean {
    return this.counts['connection_ack'] !== undefined;
  }

  send(...messages: Message[]): void {
    if (this.webSocket.readyState !== WebSocket.OPEN) return;
    this.rawSocket.cork();
    for (const message of messages) this.webSocket.send(JSON.stringify(message), () => {});
    this.rawSocket.uncork();
  }

  subscribe(id: string, query: string, variables: Record<string, unknown> = {}): void {
    this.send({ type: 'subscribe', id, payload: { query, variables } });
  }

  /** Subscribes. Returns 'live', or the code of the error that refused the subscription. */
  async follow(id: string, query: string, variables: Record<string, unknown> = {}): Promise<string> {
    this.subscribe(id, query, variables);
    const isLive = () => this.received.some(({ type, payload }) => type === 'ping' && payload?.live?.[id]);
    await until(defaultTimeoutMs, () => isLive() || this.errorOf(id) !== undefined || this.closeCode !== undefined);
    return isLive() ? 'live' : (this.errorOf(id)?.extensions.code ?? `closed with ${this.closeCode}`);
  }

  /** The error that ended the operation. */
  errorOf(id: string): { extensions: { code: string; live?: { cursor: string } } } | undefined {
    return this.received.find((message) => message.type === 'error' && message.id === id)?.payload[0];
  }

  // biome-ignore lint/suspicious/noExplicitAny: its shape is the operation's.
  dataOf(id: string): any[] {
    return this.received.flatMap((message) =>
      message.type === 'next' && message.id === id ? [message.payload.data] : [],
    );
  }

  /** Resolves when the server has handled all messages sent before this call, or has closed the socket. */
  async waitForPong(timeoutMs = defaultTimeoutMs): Promise<void> {
    const pongs = this.counts['pong'] ?? 0;
    this.send({ type: 'ping' });
    await until(timeoutMs, () => (this.counts['pong'] ?? 0) > pongs || this.closeCode !== undefined);
  }

  get rawSocket(): Socket {
    return (this.webSocket as unknown as { _socket: Socket })._socket;
  }

  disconnect(): void {
    this.webSocket.terminate();
  }

  #receive(message: Message, keepsMessages: boolean): void {
    const { type, payload } = message;
    this.#count(type);
    if (type === 'error') this.#count(payload[0].extensions.code);
    if (keepsMessages) this.received.push(message);
    if (type === 'ping') this.send({ type: 'pong' });
  }

  #count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }
}

/** The total counts of several sockets, and the number of sockets by close code. */
export function sumCounts(sockets: readonly WebSocketClient[]): string {
  const sum: Record<string, number> = {};
  for (const { counts, closeCode } of sockets) {
    const closed = closeCode === undefined ? {} : { [`closed with ${closeCode}`]: 1 };
    for (const [what, count] of Object.entries({ ...counts, ...closed })) sum[what] = (sum[what] ?? 0) + count;
  }
  const reported = Object.entries(sum).filter(([what]) => !['pong', 'connection_ack', 'error'].includes(what));
  return reported.map(([what, count]) => `${count} × ${what}`).join(', ') || 'no answers';
}
