import WebSocket, { type RawData } from 'ws';
import type { Person, Postroom } from '../server/postroom.ts';
import { within } from './case.ts';

const timeoutMs = 20_000;

/** Another client: its subscription and its requests must go on whatever the cases send. */
export class Witness {
  readonly #postroom: Postroom;
  readonly #person: Person;
  readonly #room: string;
  readonly #webSocket: WebSocket;
  /** Resolves when the socket has closed, with a description. */
  readonly #closed: Promise<string>;
  #waiting = Promise.withResolvers<undefined>();

  private constructor(postroom: Postroom, person: Person, room: string) {
    this.#postroom = postroom;
    this.#person = person;
    this.#room = room;
    this.#webSocket = new WebSocket(postroom.webSocketUrl, 'graphql-transport-ws');
    this.#webSocket.on('error', () => {});
    this.#webSocket.on('message', (data: RawData) => this.#receive(JSON.parse(String(data))));
    this.#closed = new Promise((resolve) => {
      this.#webSocket.once('close', (code) => resolve(`the socket of another client closed with ${code}`));
    });
    this.#webSocket.once('open', () => this.#send({ type: 'connection_init', payload: this.#payload }));
  }

  /** Resolves when its subscription has begun. */
  static async open(postroom: Postroom, person: Person, room: string): Promise<Witness> {
    const witness = new Witness(postroom, person, room);
    await Promise.race([witness.#waiting.promise, witness.#closed]);
    return witness;
  }

  get #payload(): object {
    return { authorization: `Bearer ${this.#person.token}` };
  }

  #send(message: object): void {
    this.#webSocket.send(JSON.stringify(message));
  }

  #receive({ type, payload }: { type: string; payload?: { live?: object } }): void {
    if (type === 'connection_ack') {
      const query = `subscription { roomEvents(room: "${this.#room}") { cursor } }`;
      this.#send({ type: 'subscribe', id: 'witness', payload: { query } });
    } else if (type === 'next' || payload?.live) this.#waiting.resolve(undefined);
  }

  /** Creates a post and waits for its event. Describes what went wrong. */
  async check(): Promise<string | undefined> {
    if (this.#webSocket.readyState !== WebSocket.OPEN) return this.#closed;
    this.#waiting = Promise.withResolvers();
    try {
      await this.#postroom.createPost(this.#person, this.#room, 'check');
    } catch (error) {
      return `the request of another client failed: ${error}`;
    }
    const outcome = await within(timeoutMs, Promise.race([this.#waiting.promise, this.#closed]));
    return outcome === 'late' ? 'another client received no event' : outcome;
  }

  close(): void {
    this.#webSocket.terminate();
  }
}
