import type { Client } from 'graphql-ws';
import { onTestFinished } from 'vitest';
import { openCursor } from '../rooms/cursors.ts';
import type { ReplyError } from '../server/postroom.ts';
import type { Journal } from './journal.ts';

const resubscribeMs = 50;

const own = `... on TaskAdded { task { id title } } ... on TaskMoved { task { id title } } ... on PostReacted { post { id title } }`;
const queryOf = (hasExtensions: boolean) => `subscription ($room: ID!, $after: String) {
  roomEvents(room: $room, after: $after) { __typename cursor at ... on PostCreated { post { id title } } ${hasExtensions ? own : ''} }
}`;

type Titled = { title: string } | null;

interface Result {
  data?: { roomEvents: { cursor: string; at: string; post?: Titled; task?: Titled } } | null;
  errors?: ReplyError[];
  extensions?: { live?: { cursor: string } };
}

interface Received {
  cursor: string;
  seq: number;
  mark: string;
  title: string | undefined;
}

/** The events that a client received without being notified of a loss: they must follow each other. */
export interface Segment {
  /** The position after which it began. */
  from: { seq: number; mark: string };
  events: Received[];
  /** The error that ended it. */
  end?: { code: string; at: number };
}

/** One subscription of a client of graphql-ws to a room, as an application uses it. */
export class RoomStream {
  readonly name: string;
  readonly room: string;
  readonly segments: Segment[] = [];
  readonly client: Client;
  readonly #journal: Journal;
  readonly #query: string;
  #cursor: string;
  #unsubscribe: () => void = () => {};
  #isClosed = false;

  constructor(options: {
    name: string;
    room: string;
    after: string;
    client: Client;
    journal: Journal;
    hasExtensions?: boolean;
  }) {
    this.name = options.name;
    this.room = options.room;
    this.client = options.client;
    this.#journal = options.journal;
    this.#query = queryOf(options.hasExtensions ?? false);
    this.#cursor = options.after;
    this.#begin(options.after);
    this.#subscribe();
    onTestFinished(() => this.#close());
  }

  /** The position that it has reached. */
  get position(): { seq: number; mark: string } {
    return openCursor(this.#cursor);
  }

  get deliveries(): number {
    return this.segments.reduce((sum, { events }) => sum + events.length, 0);
  }

  #close(): void {
    this.#isClosed = true;
    this.#unsubscribe();
  }

  #begin(after: string): void {
    this.#cursor = after;
    const { seq, mark } = openCursor(after);
    this.segments.push({ from: { seq, mark }, events: [] });
  }

  #subscribe(): void {
    if (this.#isClosed) return;
    this.#unsubscribe = this.client.subscribe<Result['data']>(
      { query: this.#query, variables: { room: this.room, after: this.#cursor } },
      {
        next: (result) => this.#take(result as unknown as Result),
        error: (error) => this.#end(error),
        complete: () => {
          if (!this.#isClosed) this.#journal.violate(`${this.name} was completed without an error`);
        },
      },
    );
  }

  #take({ data, errors, extensions }: Result): void {
    const cursor = extensions?.live?.cursor;
    if (cursor === undefined) return this.#journal.violate(`${this.name} received a result without a cursor`);
    if (errors) this.#journal.violate(`${this.name} received ${JSON.stringify(errors)}`);
    if (data && data.roomEvents.cursor !== cursor) this.#journal.violate(`${this.name} received two cursors`);
    const { seq, mark } = openCursor(cursor);
    const expected = this.position.seq + 1;
    if (seq !== expected) this.#journal.violate(`${this.name} received ${seq} instead of ${expected}`);
    this.#cursor = cursor;
    this.segments
      .at(-1)
      ?.events.push({ cursor, seq, mark, title: (data?.roomEvents.post ?? data?.roomEvents.task)?.title });
  }

  #end(error: unknown): void {
    const [first] = Array.isArray(error) ? (error as ReplyError[]) : [];
    const code = first?.extensions.code ?? describe(error);
    this.#journal.count(`stream ended: ${code}`);
    this.#journal.note(`${this.name} ended with ${code} at ${this.position.seq}`);
    const segment = this.segments.at(-1);
    const cursor = first?.extensions.live?.cursor;
    if ((code === 'CURSOR_EXPIRED' || code === 'SLOW_CONSUMER') && cursor && segment) {
      segment.end = { code, at: performance.now() };
      this.#begin(cursor);
    } else this.#journal.violate(`${this.name} ended with ${code}`);
    setTimeout(() => this.#subscribe(), resubscribeMs);
  }
}

function describe(error: unknown): string {
  if (typeof error === 'object' && error && 'code' in error) return `close code ${error.code}`;
  return String(error);
}
