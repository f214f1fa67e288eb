import { connect, type Socket } from 'node:net';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../fan-out/statistics.ts';
import { obey } from './worker.ts';

/* Well-behaved clients: each at an address of its own, over a connection that is kept, one request a second. */

export interface Order {
  port: number;
  query: string;
  seconds: number;
}

export interface Service {
  p50Ms: number;
  p99Ms: number;
}

const clients = 500;

try {
  // They stand for other machines: what is measured is how long the server takes, not who gets a processor here.
  setPriority(-10);
} catch {
  // Only an administrator may.
}

/** One request after the other; what it waits for is the whole answer. */
class Neighbour {
  readonly #socket: Socket;
  #answer = '';
  #onAnswer: ((failure?: Error) => void) | undefined;

  constructor(port: number, address: string) {
    this.#socket = connect({ host: '127.0.0.1', port, localAddress: address, noDelay: true });
    this.#socket.setEncoding('latin1');
    this.#socket.on('data', (text: string) => this.#read(text));
    this.#socket.on('error', (error) => this.#onAnswer?.(error));
    this.#socket.on('close', () => this.#onAnswer?.(new Error('a well-behaved client was cut off')));
  }

  /** Milliseconds to the whole answer. */
  ask(request: string): Promise<number> {
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
    this.#onAnswer?.(status === '200' ? undefined : new Error(`a well-behaved client got ${status}`));
  }
}

let port = 0;
let neighbours: Neighbour[] = [];

obey<Order, Service>(async (order) => {
  const body = JSON.stringify({ query: order.query });
  const head = `POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
  const request = `${head}\r\n\r\n${body}`;
  if (order.port !== port) {
    port = order.port;
    neighbours = Array.from({ length: clients }, (_, index) => new Neighbour(port, addressOf(index)));
  }
  const startedAt = performance.now();
  const count = clients * order.seconds;
  const answers: Promise<number>[] = [];
  for (let index = 0; index < count; index += 1) {
    const wait = startedAt + (index * 1_000) / clients - performance.now();
    if (wait > 0) await sleep(wait);
    const neighbour = neighbours[index % clients];
    if (neighbour) answers.push(neighbour.ask(request));
  }
  const latencies = await Promise.all(answers);
  return { p50Ms: percentile(latencies, 0.5), p99Ms: percentile(latencies, 0.99) };
});

function addressOf(index: number): string {
  return `127.200.${Math.floor(index / 250)}.${1 + (index % 250)}`;
}
