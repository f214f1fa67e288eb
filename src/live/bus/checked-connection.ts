import { contain } from '../../contain.ts';
import { type BusMessage, commonTopic } from './bus.ts';
import type { BusConnection, BusDriver } from './driver.ts';
import { decode, type EncodedMessage, encodePing } from './wire-format.ts';

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
  readonly #closed = new AbortController();
  readonly #lost = Promise.withResolvers<never>();
  #loss: { error: unknown } | undefined;
  /** Refuse the work that waits for the connection. */
  readonly #waiting = new Set<(error: unknown) => void>();
  #connection: BusConnection | undefined;
  #onPing: () => void = () => {};

  constructor(parts: CheckedConnectionParts) {
    this.#parts = parts;
    this.#lost.promise.catch((error: unknown) => this.#refuseWaiting(error));
  }

  /** Resolves when the server has accepted the connection, which has no subscriptions yet. */
  async open(): Promise<void> {
    const receive = contain((text: string) => this.#receive(text), this.#parts.onError);
    const handlers = { receive, onLost: this.#lost.reject };
    this.#connection = await this.#unlessLost(this.#parts.driver.connect(handlers, this.#closed.signal));
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
      return await this.#lost.promise;
    } finally {
      clearInterval(timer);
    }
  }

  /** The connection cannot be used any more. Only the first reason counts. */
  lose(error: unknown): void {
    this.#lost.reject(error);
  }

  close(): void {
    this.lose(new Error('the bus was closed'));
    this.#closed.abort();
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

  /**
   * Rejects when the connection is lost before the work is done. A race with `#lost.promise` itself would add to its
   * reactions, which are held for as long as the connection.
   */
  async #unlessLost<T>(work: Promise<T>): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>();
    if (this.#loss) reject(this.#loss.error);
    this.#waiting.add(reject);
    try {
      return await Promise.race([work, promise]);
    } finally {
      this.#waiting.delete(reject);
    }
  }

  #refuseWaiting(error: unknown): void {
    this.#loss = { error };
    for (const refuse of this.#waiting) refuse(error);
  }
}
