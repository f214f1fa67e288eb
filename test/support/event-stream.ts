import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { onTestFinished } from 'vitest';
import { Inbox } from './inbox.ts';
import type { ReplyError } from './postroom.ts';
import type { Result } from './protocol-socket.ts';

export interface StreamEvent {
  event: string | undefined;
  id: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: its shape is the operation's.
  data: any;
}

/** A GraphQL over SSE client that reads the bytes as they arrive; after a pause they stay unread. */
export class EventStream {
  readonly response: IncomingMessage;
  readonly closed: Promise<void>;
  /** The data of the events of type `next`. */
  readonly results = new Inbox<Result>();
  /** Called with each event when it arrives. */
  onEvent: ((event: StreamEvent) => void) | undefined;
  heartbeatCount = 0;
  readonly #inbox = new Inbox<StreamEvent>();
  #text = '';

  constructor(response: IncomingMessage) {
    this.response = response;
    response.setEncoding('utf8');
    response.on('error', () => {});
    response.on('data', (text: string) => this.#read(text));
    this.closed = new Promise((resolve) => {
      response.once('close', () => {
        this.#inbox.close(() => `the stream ended; it received ${JSON.stringify(this.received.slice(-5))}`);
        this.results.close(() => 'the stream ended');
        resolve();
      });
    });
  }

  /** Resolves after the first event, or when the request was refused; the stream is closed after the test. */
  static async open(
    url: string,
    query: string,
    headers: Record<string, string> = {},
    variables?: Record<string, unknown>,
  ): Promise<EventStream> {
    const accept = 'text/event-stream, application/graphql-response+json;q=0.9';
    const sent = request(url, {
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/json', accept, ...headers },
    });
    sent.on('error', () => {});
    sent.end(JSON.stringify({ query, variables }));
    onTestFinished(() => void sent.destroy());
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const stream = new EventStream(response);
    if (stream.status === 200) await stream.take();
    else await stream.closed;
    return stream;
  }

  /** The events received so far. An event without data only has a position. */
  get received(): readonly StreamEvent[] {
    return this.#inbox.all;
  }

  get status(): number {
    return this.response.statusCode ?? 0;
  }

  /** The position from which the stream is live. */
  get start(): string {
    return this.received[0]?.id ?? '';
  }

  /** The `id` that an EventSource would send as Last-Event-ID. */
  get lastEventId(): string | undefined {
    return this.received.findLast(({ id }) => id !== undefined)?.id;
  }

  /** The next matching event that was not taken yet; earlier events are skipped. */
  take(fits?: (event: StreamEvent) => boolean): Promise<StreamEvent> {
    return this.#inbox.next(fits);
  }

  /** The body of a refusal. */
  get refusal(): { errors: ReplyError[] } {
    return JSON.parse(this.#text);
  }

  close(): void {
    this.response.destroy();
  }

  #read(text: string): void {
    const blocks = (this.#text + text).split('\n\n');
    this.#text = blocks.pop() ?? '';
    for (const block of blocks) this.#receive(block.split('\n'));
  }

  #receive(lines: string[]): void {
    const fieldOf = (name: string) =>
      lines
        .find((line) => line.startsWith(`${name}:`))
        ?.slice(name.length + 1)
        .trimStart();
    if (lines.every((line) => line.startsWith(':') || line === '')) {
      this.heartbeatCount += 1;
      return;
    }
    const data = fieldOf('data');
    const event = { event: fieldOf('event'), id: fieldOf('id'), data: data ? JSON.parse(data) : undefined };
    this.#inbox.push(event);
    this.onEvent?.(event);
    if (event.event === 'next') this.results.push(event.data);
    if (event.event === 'complete') this.results.close(() => 'complete');
  }
}
