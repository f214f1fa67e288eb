import { addAbortListener, setMaxListeners } from 'node:events';
import { contain } from '../../common/contain.ts';
import { type BusKind, type BusMessage, commonTopic } from './bus.ts';
import { decode, type EncodedMessage, encodePing } from './wire-format.ts';

/** Connects to a server that passes messages between processes. */
export interface BusDriver {
  kind: BusKind;
  /** The maximum size of one message; longer events are sent without their content. */
  maxMessageBytes: number;
  /** The number of batches that are sent without waiting for the answer to the first. */
  maxInFlight: number;
  /** Rejects if the server cannot be reached. `signal` ends the attempt, and later the connection. */
  connect(handlers: ConnectionHandlers, signal: AbortSignal): Promise<BusConnection>;
}

export interface ConnectionHandlers {
  receive: (text: string) => void;
  onLost: (error: Error) => void;
}

export interface BusConnection {
  /** Sends messages in order; resolves when the server has them. */
  send(batch: readonly EncodedMessage[]): Promise<void>;
  /** Resolves when later messages of the topics are received. */
  subscribe(topics: readonly string[]): Promise<void>;
  unsubscribe(topic: string): Promise<void>;
}

/** While a bus answers, the periodic comparison of heads finds lost messages, so this need not be short. */
const pingIntervalMs = 1_000;
/** Counted in intervals, because timers are late in a busy process, but so are the answers. */
const maxUnansweredIntervals = 2;

interface CheckedConnectionParts {
  driver: BusDriver;
  /** The id of the bus in its messages. */
  id: string;
  /** Called with each message of another bus. */
  onMessage: (message: BusMessage) => void;
  /** Called with the exception of a message. The next ones are received. */
  onError: (error: unknown) => void;
}

/**
 * One connection to the server of a bus, which sends pings to itself: this also finds a server that hangs, and a proxy
 * that accepts subscriptions but delivers nothing. When it is lost, all work that waits for it is refused.
 */
export class CheckedConnection {
  readonly #parts: CheckedConnectionParts;
  /** Aborted when the connection is lost or closed, with the reason. */
  readonly #lost = new AbortController();
  #connection: BusConnection | undefined;
  #onPing: () => void = () => {};

  constructor(parts: CheckedConnectionParts) {
    this.#parts = parts;
    // Each work that waits for the connection listens to it.
    setMaxListeners(0, this.#lost.signal);
  }

  /** Resolves when the server has accepted the connection, which has no subscriptions yet. */
  async open(): Promise<void> {
    const receive = contain((text: string) => this.#receive(text), this.#parts.onError);
    const handlers = { receive, onLost: (error: Error) => this.lose(error) };
    this.#connection = await this.#unlessLost(this.#parts.driver.connect(handlers, this.#lost.signal));
  }

  async subscribe(topics: readonly string[]): Promise<void> {
    await this.#unlessLost(this.#opened.subscribe(topics));
  }

  async unsubscribe(topic: string): Promise<void> {
    await this.#opened.unsubscribe(topic);
  }

  /** A batch that fails ends the connection: its messages are lost. */
  async send(batch: readonly EncodedMessage[]): Promise<void> {
    try {
      await this.#opened.send(batch);
    } catch (error) {
      this.lose(error);
      throw error;
    }
  }

  /** Resolves when the connection has received its own ping. */
  async ping(): Promise<void> {
    const received = new Promise<void>((resolve) => {
      this.#onPing = resolve;
    });
    const sent = this.#opened.send([encodePing(this.#parts.id, commonTopic)]);
    await this.#unlessLost(Promise.all([sent, received]));
  }

  /** Rejects when the connection is lost. */
  async keepAlive(): Promise<never> {
    let unanswered = 0;
    const timer = setInterval(() => {
      if (unanswered >= maxUnansweredIntervals) this.lose(new Error('no answer for two seconds'));
      unanswered += 1;
      if (unanswered > 1) return;
      this.ping().then(
        () => {
          unanswered = 0;
        },
        () => {},
      );
    }, pingIntervalMs).unref();
    try {
      return await this.#unlessLost(new Promise(() => {}));
    } finally {
      clearInterval(timer);
    }
  }

  /** Closes the connection, which cannot be used any more. Only the first reason counts. */
  lose(reason: unknown): void {
    this.#lost.abort(reason);
  }

  get #opened(): BusConnection {
    if (!this.#connection) throw new Error('the connection is not open');
    return this.#connection;
  }

  /** Messages of this bus were delivered when they were published. */
  #receive(text: string): void {
    const { from, message } = decode(text);
    const isOwn = from === this.#parts.id;
    if (isOwn && !message) this.#onPing();
    if (!isOwn && message) this.#parts.onMessage(message);
  }

  /** Rejects when the connection is lost before the work is done. */
  async #unlessLost<T>(work: Promise<T>): Promise<T> {
    const { signal } = this.#lost;
    const { promise, reject } = Promise.withResolvers<never>();
    using _ = addAbortListener(signal, () => reject(signal.reason));
    return await Promise.race([work, promise]);
  }
}
