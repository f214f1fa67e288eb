import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { onTestFinished } from 'vitest';

export interface StreamEvent {
  event: string | undefined;
  id: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: its shape is the operation's.
  data: any;
}

/** A GraphQL over SSE client that reads the bytes as they arrive; after a pause they stay unread. */
export class EventStream {
  readonly response: IncomingMessage;
  /** The events received so far. An event without data only has a position. */
  readonly received: StreamEvent[] = [];
  readonly closed: Promise<void>;
  /** Called with each event when it arrives. */
  onEvent: ((event: StreamEvent) => void) | undefined;
  heartbeatCount = 0;
  #text = '';
  #isClosed = false;
  #taken = 0;
  #wake: () => void = () => {};

  constructor(response: IncomingMessage) {
    this.response = response;
    response.setEncoding('utf8');
    response.on('error', () => {});
    response.on('data', (text: string) => this.#read(text));
    this.closed = new Promise((resolve) => {
      response.once('close', () => {
        this.#isClosed = true;
        this.#wake();
        resolve();
      });
    });
  }

  /** Resolves after the first event; the stream is closed after the test. */
  static async open(url: string, query: string, headers: Record<string, string> = {}): Promise<EventStream> {
    const sent = request(url, {
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
    });
    sent.on('error', () => {});
    sent.end(JSON.stringify({ query }));
    onTestFinished(() => void sent.destroy());
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const stream = new EventStream(response);
    await stream.take();
    return stream;
  }

  /** The position from which the stream is live. */
  get start(): string {
    return this.received[0]?.id ?? '';
  }

  async take(fits: (event: StreamEvent) => boolean = () => true): Promise<StreamEvent> {
    for (;;) {
      while (this.#taken < this.received.length) {
        const event = this.received[this.#taken];
        this.#taken += 1;
        if (event && fits(event)) return event;
      }
      if (this.#isClosed) throw new Error(`it was closed; it got ${JSON.stringify(this.received.slice(-5))}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #read(text: string): void {
    const blocks = (this.#text + text).split('\n\n');
    this.#text = blocks.pop() ?? '';
    for (const block of blocks) this.#take(block.split('\n'));
  }

  #take(lines: string[]): void {
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
    this.received.push(event);
    this.onEvent?.(event);
    this.#wake();
  }
}
