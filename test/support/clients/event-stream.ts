import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { onTestFinished } from 'vitest';
import type { ReplyError } from '../server/postroom.ts';
import type { Result } from './protocol-socket.ts';
import { ReceivedQueue } from './received-queue.ts';

export interface StreamEvent {
  event: string | undefined;
  id: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: its shape is the operation's.
  data: any;
}

/** The headers with which Apollo's clients ask for a subscription as multipart. */
export const multipartHeaders = { accept: 'multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json' };

/** The two forms of a subscription over HTTP, and the headers that ask for them. */
export const streamForms: [string, Record<string, string>][] = [
  ['SSE', {}],
  ['multipart', multipartHeaders],
];

/** A client of subscriptions over HTTP that reads the bytes as they arrive; after a pause they stay unread. */
export class EventStream {
  readonly response: IncomingMessage;
  readonly closed: Promise<void>;
  /** The data of the events of type `next`. */
  readonly results = new ReceivedQueue<Result>();
  /** Called with each event when it arrives. */
  onEvent: ((event: StreamEvent) => void) | undefined;
  heartbeatCount = 0;
  readonly #queue = new ReceivedQueue<StreamEvent>();
  readonly #isMultipart: boolean;
  #text = '';

  constructor(response: IncomingMessage) {
    this.response = response;
    this.#isMultipart = response.headers['content-type']?.startsWith('multipart/mixed;') ?? false;
    response.setEncoding('utf8');
    response.on('error', () => {});
    response.on('data', (text: string) => this.#read(text));
    this.closed = new Promise((resolve) => {
      response.once('close', () => {
        this.#queue.close(() => `the stream ended; it received ${JSON.stringify(this.received.slice(-5))}`);
        this.results.close(() => 'the stream ended');
        resolve();
      });
    });
  }

  /**
   * Resolves after the first event, or when the request was refused; the stream is closed after the test.
   * @param query a document, or the whole request
   */
  static async open(
    url: string,
    query: string | Record<string, unknown>,
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
    sent.end(JSON.stringify(typeof query === 'string' ? { query, variables } : query));
    onTestFinished(() => void sent.destroy());
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const stream = new EventStream(response);
    if (stream.status === 200) await stream.take();
    else await stream.closed;
    return stream;
  }

  /** The events received so far. An event without data only has a position. */
  get received(): readonly StreamEvent[] {
    return this.#queue.all;
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
    return this.#queue.next(fits);
  }

  /** The body of a refusal. */
  get refusal(): { errors: ReplyError[] } {
    return JSON.parse(this.#text);
  }

  close(): void {
    this.response.destroy();
  }

  #read(text: string): void {
    const blocks = (this.#text + text).split(this.#isMultipart ? '\r\n--graphql' : '\n\n');
    this.#text = blocks.pop() ?? '';
    for (const block of blocks) {
      if (this.#isMultipart) this.#receivePart(block);
      else this.#receiveEvent(block.split('\n'));
    }
    if (this.#isMultipart && this.#text === '--\r\n') this.#push({ event: 'complete', id: undefined, data: undefined });
  }

  /** The first part is a heartbeat, which stands for the event that only has a position. */
  #receivePart(part: string): void {
    if (part === '') return;
    const [header, json = ''] = part.split('\r\n\r\n');
    if (header !== '\r\ncontent-type: application/json') throw new Error(`The part has the header ${header}.`);
    if (json !== '{}') {
      const { payload, errors } = JSON.parse(json);
      this.#push({ event: 'next', id: payload?.extensions?.live?.cursor, data: payload ?? { errors } });
    } else if (this.received.length > 0) this.heartbeatCount += 1;
    else this.#push({ event: undefined, id: undefined, data: undefined });
  }

  #receiveEvent(lines: string[]): void {
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
    this.#push({ event: fieldOf('event'), id: fieldOf('id'), data: data ? JSON.parse(data) : undefined });
  }

  #push(event: StreamEvent): void {
    this.#queue.push(event);
    this.onEvent?.(event);
    if (event.event === 'next') this.results.push(event.data);
    if (event.event === 'complete') this.results.close(() => 'complete');
  }
}
