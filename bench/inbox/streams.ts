import { setTimeout as wait } from 'node:timers/promises';
import type { Subscription } from '../fan-out/load.ts';
import { LoadProcess } from '../fan-out/load-process.ts';
import { createPost } from '../support/accounts.ts';
import type { InboxServer } from './server.ts';

/** The last events of the warm-up have arrived after this time. */
const settleMs = 200;
const event = '{ __typename cursor ... on PostCreated { post { id title body author { id name } } } }';
const body =
  'A body of some length, as people write them to each other in a room: two lines on a phone, one on a desk.';

export const inboxQuery = `subscription { inbox ${event} }`;
export const roomQuery = `subscription ($room: ID!) { roomEvents(room: $room) ${event} }`;

/** Streams in a process of their own, and the rooms whose events all of them receive. */
export class Streams {
  readonly rooms: readonly string[];
  readonly #inbox: InboxServer;
  readonly #load = new LoadProcess();
  readonly #count: number;

  private constructor(inbox: InboxServer, rooms: readonly string[], count: number) {
    this.#inbox = inbox;
    this.rooms = rooms;
    this.#count = count;
  }

  /** Resolves when all streams are live. */
  static async open(inbox: InboxServer, rooms: readonly string[], subscriptions: Subscription[]): Promise<Streams> {
    const streams = new Streams(inbox, rooms, subscriptions.length);
    await streams.#load.connect(inbox.server.port, subscriptions);
    await streams.#waitUntilLive();
    return streams;
  }

  /** Publishes events in all rooms in turn, each when all streams have received the one before. */
  async publish(events: number): Promise<void> {
    await this.#load.count(this.#count, events);
    for (let number = 0; number < events; number += 1) {
      const received = this.#load.step();
      await this.#createPost(number);
      await received;
    }
    const { fewest, most, failures } = await this.#load.report();
    if (failures.length > 0) throw new Error(failures.join('; '));
    if (fewest !== events || most !== events) throw new Error(`${fewest} to ${most} of ${events} events arrived`);
  }

  /** Publishes events until all streams have received one. */
  async #waitUntilLive(): Promise<void> {
    await this.#load.count(Number.MAX_SAFE_INTEGER, 1);
    for (;;) {
      const { fewest, failures } = await this.#load.report();
      if (failures.length > 0) throw new Error(failures.join('; '));
      if (fewest > 0) return wait(settleMs);
      await this.#createPost(0);
      await wait(settleMs);
    }
  }

  async #createPost(number: number): Promise<void> {
    const room = this.rooms[number % this.rooms.length] ?? '';
    await createPost(this.#inbox.server.port, this.#inbox.owner, { room, title: `Event ${number}`, body });
  }

  stop(): void {
    this.#load.stop();
  }
}
