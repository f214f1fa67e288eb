import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import {
  type Bus,
  type BusKind,
  type BusListener,
  type BusMessage,
  type BusOptions,
  commonTopic,
  isWakeUp,
} from './bus.ts';
import { BusCounts } from './bus-counts.ts';
import { Listeners } from './listeners.ts';
import { Outbox } from './outbox.ts';
import { decode, encode, encodePing, type Frame } from './wire-format.ts';

/** A server that passes messages between processes. */
export interface Transport {
  kind: BusKind;
  /** The maximum size of one message; longer events are sent without their content. */
  maxFrameBytes: number;
  /** The number of batches that are sent without waiting for the answer to the first. */
  maxInFlight: number;
  /** Rejects if the server cannot be reached. `signal` ends the attempt, and later the connection. */
  connect(handlers: ConnectionHandlers, signal: AbortSignal): Promise<Connection>;
}

export interface ConnectionHandlers {
  receive: (text: string) => void;
  onLost: (error: Error) => void;
}

export interface Connection {
  /** Sends messages in order; resolves when the server has them. */
  send(batch: readonly Frame[]): Promise<void>;
  /** Resolves when later messages of the topics are received. */
  subscribe(topics: readonly string[]): Promise<void>;
  unsubscribe(topic: string): Promise<void>;
}

/** While a bus answers, the periodic comparison of heads finds lost messages, so this need not be short. */
const pingIntervalMs = 1_000;
/** Counted in intervals, because timers are late in a busy process, but so are the answers. */
const maxUnansweredIntervals = 2;
const connectTimeoutMs = 2_000;
const maxRetryDelayMs = 2_000;
/** A connection that is lost earlier counts as a failed attempt. */
const stableMs = 5_000;
const closeTimeoutMs = 500;

/**
 * A bus over a server. It connects again by itself, for as long as it is open, and it is up while it receives its own
 * pings: this also finds a server that hangs, and a proxy that accepts subscriptions but delivers nothing.
 */
export class NetworkBus implements Bus {
  readonly counts = new BusCounts();
  readonly #id = randomUUID();
  readonly #transport: Transport;
  readonly #options: BusOptions;
  readonly #listeners: Listeners;
  readonly #outbox: Outbox;
  readonly #stateListeners: (() => void)[] = [];
  /** The subscriptions of topics that the server has not confirmed yet. */
  readonly #subscribing = new Map<string, Promise<void>>();
  readonly #closed = new AbortController();
  #connection: Connection | undefined;
  #isUp = false;
  #isReportedDown = false;
  #onPing: () => void = () => {};
  /** Ends the waits of subscribers when the connection is lost. */
  #lost = Promise.withResolvers<never>();
  #loss: { error: unknown } | undefined;
  /** Refuse the work that waits for the connection. */
  readonly #waiting = new Set<(error: unknown) => void>();

  constructor(transport: Transport, options: BusOptions) {
    this.#transport = transport;
    this.#options = options;
    this.#listeners = new Listeners(options.onError);
    const wakeUp = encode(this.#id, { type: 'anythingMayHaveChanged' }, transport.maxFrameBytes);
    this.#outbox = new Outbox({ maxInFlight: transport.maxInFlight, wakeUp, counts: this.counts });
  }

  /** Resolves after the first attempt to connect, whether or not it succeeds. */
  async open(): Promise<this> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#stayConnected(resolve).catch(this.#options.onError);
    await promise;
    return this;
  }

  publish(message: BusMessage): void {
    this.counts.published += 1;
    this.#listeners.deliver(message);
    if (!this.#closed.signal.aborted) this.#outbox.add(encode(this.#id, message, this.#transport.maxFrameBytes));
  }

  async subscribe(topic: string, listener: BusListener): Promise<() => void> {
    const isFirst = !this.#listeners.has(topic);
    const remove = this.#listeners.add(topic, listener);
    if (isFirst) this.#subscribeTo(topic);
    await this.#subscribing.get(topic);
    return () => {
      if (remove()) this.#unsubscribeFrom(topic);
    };
  }

  get kind(): BusKind {
    return this.#transport.kind;
  }

  waitingCount(): number {
    return this.#outbox.size;
  }

  hasBacklog(): boolean {
    return this.#outbox.hasBacklog;
  }

  listenerCount(): number {
    return this.#listeners.count;
  }

  isUp(): boolean {
    return this.#isUp;
  }

  onStateChange(listener: () => void): void {
    this.#stateListeners.push(listener);
  }

  async close(): Promise<void> {
    if (this.#closed.signal.aborted) return;
    const { signal } = this.#closed;
    await Promise.race([this.#outbox.drain(), wait(closeTimeoutMs, undefined, { ref: false, signal })]);
    this.#closed.abort();
    this.#listeners.clear();
    this.#stateListeners.length = 0;
  }

  #subscribeTo(topic: string): void {
    const connection = this.#connection;
    if (!connection) return;
    const confirmed = this.#confirm(connection, topic).finally(() => {
      if (this.#subscribing.get(topic) === confirmed) this.#subscribing.delete(topic);
    });
    this.#subscribing.set(topic, confirmed);
  }

  /** Resolves in any case: the next connection subscribes again. */
  async #confirm(connection: Connection, topic: string): Promise<void> {
    await this.#unlessLost(connection.subscribe([topic])).catch(this.#lost.reject);
  }

  #unsubscribeFrom(topic: string): void {
    this.#subscribing.delete(topic);
    // The next connection subscribes only to topics that have listeners.
    this.#connection?.unsubscribe(topic).catch(() => {});
  }

  async #stayConnected(onFirstAttempt: () => void): Promise<void> {
    const { signal } = this.#closed;
    for (let failures = 0; !signal.aborted; failures += 1) {
      const attempt = new AbortController();
      const stop = () => attempt.abort();
      signal.addEventListener('abort', stop);
      this.#lost = Promise.withResolvers();
      this.#loss = undefined;
      this.#lost.promise.catch((error: unknown) => this.#refuseWaiting(error));
      let upSince = Number.POSITIVE_INFINITY;
      try {
        await this.#connect(attempt.signal);
        upSince = performance.now();
        this.#up();
        onFirstAttempt();
        await this.#keepAlive();
      } catch (error) {
        if (performance.now() - upSince >= stableMs) failures = 0;
        if (!signal.aborted) this.#down(error);
      } finally {
        signal.removeEventListener('abort', stop);
        attempt.abort();
        this.#connection = undefined;
        this.#outbox.sendWith(undefined);
      }
      onFirstAttempt();
      await wait(retryDelay(failures), undefined, { ref: false, signal }).catch(() => {});
    }
  }

  /** Resolves when the connection has received its own ping. */
  async #connect(signal: AbortSignal): Promise<void> {
    const lost = this.#lost;
    const timeout = setTimeout(() => lost.reject(new Error('no answer within two seconds')), connectTimeoutMs);
    const abort = () => lost.reject(new Error('the bus was closed'));
    signal.addEventListener('abort', abort);
    try {
      const handlers = { receive: (text: string) => this.#receive(text), onLost: lost.reject };
      const connection = await Promise.race([this.#transport.connect(handlers, signal), lost.promise]);
      this.#connection = connection;
      // Topics that are subscribed to meanwhile are sent to the connection by `subscribe`.
      const topics = new Set([commonTopic, ...this.#listeners.topics]);
      await Promise.race([connection.subscribe([...topics]), lost.promise]);
      await this.#ping(connection);
      this.#outbox.sendWith((batch) => this.#send(connection, batch));
    } finally {
      clearTimeout(timeout);
    }
  }

  /** Rejects when the connection is lost. */
  async #keepAlive(): Promise<never> {
    let unanswered = 0;
    const connection = this.#connection;
    const { promise, reject } = this.#lost;
    const timer = setInterval(() => {
      if (unanswered >= maxUnansweredIntervals) reject(new Error('no answer for two seconds'));
      unanswered += 1;
      if (unanswered > 1 || !connection) return;
      this.#ping(connection).then(
        () => {
          unanswered = 0;
        },
        () => {},
      );
    }, pingIntervalMs).unref();
    try {
      return await promise;
    } finally {
      clearInterval(timer);
    }
  }

  async #ping(connection: Connection): Promise<void> {
    const received = new Promise<void>((resolve) => {
      this.#onPing = resolve;
    });
    const sent = connection.send([encodePing(this.#id, commonTopic)]);
    await this.#unlessLost(Promise.all([sent, received]));
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

  async #send(connection: Connection, batch: readonly Frame[]): Promise<void> {
    try {
      await connection.send(batch);
    } catch (error) {
      this.#lost.reject(error);
      throw error;
    }
  }

  /** Messages of this bus were delivered when they were published. */
  #receive(text: string): void {
    const { from, message } = decode(text);
    if (from === this.#id && !message) this.#onPing();
    if (from === this.#id || !message) return;
    if (isWakeUp(message)) this.counts.wakeUps += 1;
    else this.counts.received += 1;
    this.#listeners.deliver(message);
  }

  #up(): void {
    this.#isUp = true;
    if (this.#isReportedDown) this.#options.onUp?.();
    this.#isReportedDown = false;
    this.#notify();
    // Messages may have been lost meanwhile.
    this.#listeners.deliver({ type: 'anythingMayHaveChanged' });
  }

  #down(error: unknown): void {
    // Subscribers that wait for a lost connection stop waiting.
    this.#lost.reject(error);
    if (!this.#isReportedDown) this.#options.onDown?.(reasonOf(error));
    this.#isReportedDown = true;
    const wasUp = this.#isUp;
    this.#isUp = false;
    if (wasUp) this.#notify();
  }

  #notify(): void {
    for (const listener of this.#stateListeners) listener();
  }
}

/** The first attempt after a loss is made at once. The random part prevents that all nodes connect at the same time. */
function retryDelay(failures: number): number {
  if (failures === 0) return 0;
  return Math.min(maxRetryDelayMs, 50 * 2 ** failures) * (0.5 + Math.random() / 2);
}

/** An error of several addresses of a host has no message of its own. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
