import { once } from 'node:events';
import { Agent, type IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { createRoom, signUp } from '../../support/accounts.ts';
import { post } from '../../support/client.ts';
import { Postroom } from '../../support/postroom.ts';
import { clientPortsOf } from '../../support/processes.ts';
import { percentile, spread } from '../../support/statistics.ts';
import type { TableWithTargets } from '../../support/table.ts';
import { bodyFor } from '../../writes/target.ts';
import type { Run } from '../run.ts';

const ratePerSecond = 100;
const drainMs = 500;
const maxAttempts = 20;
const socketsAtOnce = 32;
const query = 'subscription ($room: ID!) { roomEvents(room: $room) { cursor } }';

interface Delays {
  p50: number;
  p99: number;
}

/** From the answer of one worker to createPost until a subscriber of another worker has the event. */
export async function delivery({ counts, rounds, seconds }: Run): Promise<TableWithTargets> {
  const workers = counts.at(-1) ?? 2;
  const postroom = await Postroom.start({ workers });
  try {
    const pair = await Pair.connect(postroom);
    const samples: Delays[] = [];
    for (let round = -1; round < rounds; round += 1) {
      const sample = await pair.measure(seconds);
      if (round >= 0) samples.push(sample);
    }
    const [p50, p99] = [samples.map((each) => each.p50), samples.map((each) => each.p99)];
    return {
      title: 'Delivery by another worker',
      about: `WORKERS=${workers}, ${ratePerSecond} createPost per second in one room. From the answer of one worker to the subscriber of another.`,
      rows: [{ 'p50, ms': spread(p50), 'p99, ms': spread(p99) }],
      targets: [
        { name: 'delivery by another worker, p50, ms', ratios: p50, atMost: 0.3 },
        { name: 'delivery by another worker, p99, ms', ratios: p99, atMost: 5 },
      ],
    };
  } finally {
    await postroom.stop();
  }
}

/** Connections to two workers: posts are created over one, and received over the other. */
class Pair {
  readonly #postroom: Postroom;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #headers: Record<string, string>;
  readonly #body: string;
  /** When the events have arrived, in the order of the posts. */
  readonly #arrivals: number[] = [];

  private constructor(postroom: Postroom, token: string, room: string) {
    this.#postroom = postroom;
    this.#headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    this.#body = bodyFor(room);
  }

  static async connect(postroom: Postroom): Promise<Pair> {
    const token = await signUp(postroom.port);
    const room = await createRoom(postroom.port, token);
    const pair = new Pair(postroom, token, room);
    await pair.#createPost();
    await pair.#subscribe(room);
    return pair;
  }

  /** @throws Error unless every event arrives once. */
  async measure(seconds: number): Promise<Delays> {
    this.#arrivals.length = 0;
    const answers: number[] = [];
    const startedAt = performance.now();
    for (let index = 0; index < ratePerSecond * seconds; index += 1) {
      const early = startedAt + (index * 1_000) / ratePerSecond - performance.now();
      if (early > 0) await wait(early);
      // One after the other, so that the events have the order of the answers.
      await this.#createPost();
      answers.push(performance.now());
    }
    await wait(drainMs);
    if (this.#arrivals.length !== answers.length)
      throw new Error(`${this.#arrivals.length} of ${answers.length} events arrived`);
    // The event may arrive before the answer.
    const delays = answers.map((answeredAt, index) => Math.max(0, (this.#arrivals[index] ?? Number.NaN) - answeredAt));
    return { p50: percentile(delays, 0.5), p99: percentile(delays, 0.99) };
  }

  #createPost(): Promise<string> {
    const { port } = this.#postroom;
    return post({ port, path: '/graphql', headers: this.#headers, body: this.#body, agent: this.#agent });
  }

  /** Opens sockets, many at a time, until one is connected to another worker than the agent. */
  async #subscribe(room: string): Promise<void> {
    const { port, workers } = this.#postroom;
    const own = clientPortsOf(workers, port).findIndex(({ length }) => length > 0);
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const open = () => new WebSocket(`ws://127.0.0.1:${port}/graphql`, 'graphql-transport-ws');
      const sockets = Array.from({ length: socketsAtOnce }, open);
      const responses: [IncomingMessage][] = await Promise.all(
        sockets.map((socket) => once(socket, 'upgrade') as never),
      );
      const others = clientPortsOf(workers, port).flatMap((ports, index) => (index === own ? [] : ports));
      const found = sockets.find((_, index) => others.includes(responses[index]?.[0].socket.localPort ?? 0));
      for (const socket of sockets) if (socket !== found) socket.terminate();
      await wait(drainMs);
      if (!found) continue;
      found.on('message', (data) => this.#receive(found, room, JSON.parse(String(data))));
      found.send('{"type":"connection_init"}');
      return wait(drainMs);
    }
    throw new Error(`One worker has accepted all connections ${maxAttempts} times.`);
  }

  #receive(socket: WebSocket, room: string, { type }: { type: string }): void {
    if (type === 'next') this.#arrivals.push(performance.now());
    else if (type === 'ping') socket.send('{"type":"pong"}');
    else if (type === 'connection_ack')
      socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query, variables: { room } } }));
    else throw new Error(`The subscription has ended with ${type}.`);
  }
}
