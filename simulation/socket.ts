import type { ClientError } from '../src/errors.ts';
import type { Sink, Stream, StreamMessage } from '../src/live/stream.ts';
import type { Owner, Scheduler } from './scheduler.ts';
import { world } from './scheduler.ts';

/** `extensions.live` of a message or an error. */
export interface LiveExtension {
  cursor?: string;
  cursors?: Record<string, string>;
  /** The room whose events cannot be sent. */
  room?: string;
  ended?: boolean;
  gap?: boolean;
}

export interface EventData {
  __typename: string;
  cursor: string;
  at?: string;
  actor?: { id: string } | null;
  room?: { id?: string; name?: string; viewerRole?: string | null; unread?: number | null; lastRead?: string | null };
  post?: {
    id: string;
    title: string;
    version: number;
    author: { id: string; name: string };
    reactions?: { emoji: string; count: number; viewerHasReacted?: boolean }[];
  } | null;
  task?: { id: string; title: string; column: string; version: number } | null;
  postId?: string;
  user?: { id: string } | null;
}

/** A message of a subscription. */
export interface LiveMessage {
  data: {
    roomEvents?: EventData;
    inbox?: EventData;
    taskChanged?: EventData;
    roomPresence?: { count: number; users: { id: string }[] };
  } | null;
  errors?: { extensions: { code: string } }[];
  extensions?: { live?: LiveExtension };
}

/** The event of a message, whichever field of `Subscription` has sent it. */
export function eventOf({ data }: LiveMessage): EventData | undefined {
  return data?.roomEvents ?? data?.inbox ?? data?.taskChanged;
}

/** What arrives at a client. */
export type Received =
  /** The position at which the stream starts, as the server announces it. */
  | { kind: 'position'; cursor: Stream['cursor']; userCursor: Stream['userCursor'] }
  | { kind: 'next'; message: LiveMessage; bytes: number }
  /** The end of the stream with a code. */
  | { kind: 'error'; code: string; live: LiveExtension | undefined }
  /** The server has closed the connection; the client may connect again. */
  | { kind: 'closed' };

/** The buffers of a real socket are a hundred times as long: streams here are as often behind them with few events. */
const scale = 100;
const maxBytes = 65_536;

interface SocketParts {
  scheduler: Scheduler;
  /** The node that it is connected to. */
  owner: Owner;
  /** Called when the node writes. */
  onWrite: (received: Received) => void;
  onReceived: (received: Received) => void;
  /** The time until which the client does not read. */
  pausedUntil: () => number;
  onDefect: (message: string) => void;
}

/** A connection between a node and a client, which delivers in order. */
export class Socket implements Sink {
  isOpen = true;
  readonly #parts: SocketParts;
  readonly #queue: Received[] = [];
  /** The stream or the connection was ended: nothing follows. */
  #isEnded = false;
  #bytes = 0;
  #arrivesAt = 0;
  #onEmpty: (() => void)[] = [];

  constructor(parts: SocketParts) {
    this.#parts = parts;
  }

  write({ json }: StreamMessage): void {
    if (this.isOpen) this.send({ kind: 'next', message: JSON.parse(json), bytes: json.length });
  }

  send(received: Received): void {
    if (!this.isOpen || this.#isEnded) return;
    this.#isEnded = received.kind === 'error' || received.kind === 'closed';
    const { scheduler, onWrite } = this.#parts;
    onWrite(received);
    this.#queue.push(received);
    this.#bytes += sizeOf(received);
    this.#arrivesAt = Math.max(this.#arrivesAt, scheduler.now + scheduler.random.between(0.1, 3));
    scheduler.after(this.#arrivesAt - scheduler.now, () => this.#read(), world);
  }

  isFull(): boolean {
    return this.#bytes > maxBytes / scale;
  }

  onceDrained(resume: () => void): void {
    this.#onEmpty.push(resume);
    this.#notify();
  }

  onceRead(resume: () => void): void {
    this.onceDrained(resume);
  }

  end({ code, extras }: ClientError): void {
    // A WebSocket is closed with 1013, so that its client resumes.
    if (code === 'SERVICE_UNAVAILABLE') return this.disconnect();
    this.send({ kind: 'error', code, live: (extras as { live?: LiveExtension }).live });
  }

  disconnect(): void {
    this.send({ kind: 'closed' });
  }

  fail(error: unknown): void {
    this.#parts.onDefect(`a stream failed: ${error instanceof Error ? error.stack : String(error)}`);
  }

  #read(): void {
    const { scheduler, pausedUntil, onReceived } = this.#parts;
    if (!this.isOpen) return;
    const left = pausedUntil() - scheduler.now;
    if (left > 0) return void scheduler.after(left, () => this.#read(), world);
    const received = this.#queue.shift();
    if (!received) return;
    this.#bytes -= sizeOf(received);
    onReceived(received);
    this.#notify();
  }

  #notify(): void {
    if (this.#queue.length > 0 || this.#onEmpty.length === 0) return;
    const resumed = this.#onEmpty;
    this.#onEmpty = [];
    for (const resume of resumed) this.#parts.scheduler.after(0.1, () => this.isOpen && resume(), this.#parts.owner);
  }
}

function sizeOf(received: Received): number {
  return received.kind === 'next' ? received.bytes : 0;
}
