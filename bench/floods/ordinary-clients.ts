import { connect, type Socket } from 'node:net';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../support/statistics.ts';
import { answerCommands } from '../support/worker.ts';

/* A worker with ordinary clients. Each has its own address and sends one request per second over one connection. */

export interface Command {
  port: number;
  query: string;
  seconds: number;
}

/** Milliseconds until the complete answer. */
export interface Latencies {
  p50Ms: number;
  p99Ms: number;
}

const clientCount = 500;

try {
  // Ordinary clients use other machines. A high priority excludes the time in which they wait for a processor.
  setPriority(-10);
} catch {
  // Only root may raise the priority.
}

/** Sends one request at a time. */
class OrdinaryClient {
  readonly #socket: Socket;
  #answer = '';
  #onAnswer: ((failure?: Error) => void) | undefined;

  constructor(port: number, address: string) {
    this.#socket = connect({ host: '127.0.0.1', port, localAddress: address, noDelay: true });
    this.#socket.setEncoding('latin1');
    this.#socket.on('data', (text: string) => this.#read(text));
    this.#socket.on('error', (error) => this.#onAnswer?.(error));
    this.#socket.on('close', () => this.#onAnswer?.(new Error('The connection of an ordinary client was closed.')));
  }

  /** Milliseconds until the complete answer. */
  send(request: string): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const sentAt = performance.now();
    this.#onAnswer = (failure) => (failure ? reject(failure) : resolve(performance.now() - sentAt));
    this.#socket.write(request);
    return promise;
  }

  #read(text: string): void {
    this.#answer += text;
    const head = this.#answer.indexOf('\r\n\r\n');
    const length = Number(/^content-length: (\d+)$/im.exec(this.#answer)?.[1]);
    if (head < 0 || this.#answer.length < head + 4 + length) return;
    const status = this.#answer.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length);
    this.#answer = '';
    this.#onAnswer?.(status === '200' ? undefined : new Error(`An ordinary client received status ${status}.`));
  }
}

let currentPort = 0;
let clients: OrdinaryClient[] = [];

answerCommands<Command, Latencies>(async ({ port, query, seconds }) => {
  if (port !== currentPort) {
    currentPort = port;
    clients = Array.from({ length: clientCount }, (_, index) => new OrdinaryClient(port, addressOf(index)));
  }
  const latencies = await sendRequests(requestOf(query), seconds);
  return { p50Ms: percentile(latencies, 0.5), p99Ms: percentile(latencies, 0.99) };
});

function requestOf(query: string): string {
  const body = JSON.stringify({ query });
  const headers = `Host: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
  return `POST /graphql HTTP/1.1\r\n${headers}\r\n\r\n${body}`;
}

/** Sends the requests of all clients evenly spread over time. */
async function sendRequests(request: string, seconds: number): Promise<number[]> {
  const startedAt = performance.now();
  const answers: Promise<number>[] = [];
  for (let index = 0; index < clientCount * seconds; index += 1) {
    const waitMs = startedAt + (index * 1_000) / clientCount - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    const client = clients[index % clientCount];
    if (client) answers.push(client.send(request));
  }
  return Promise.all(answers);
}

function addressOf(index: number): string {
  return `127.200.${Math.floor(index / 250)}.${1 + (index % 250)}`;
}
