import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { reasonOf } from '../../common/reason-of.ts';
import {
  type Bus,
  BusCounts,
  type BusKind,
  type BusListener,
  type BusMessage,
  type BusOptions,
  commonTopic,
  isWakeUp,
  topicOf,
} from './bus.ts';
import { type BusDriver, CheckedConnection } from './checked-connection.ts';
import { addListener, countListeners, createListeners } from './memory.ts';
import { Outbox } from './outbox.ts';
import { encode } from './wire-format.ts';

const connectTimeoutMs = 2_000;
const maxRetryDelayMs = 2_000;
/** A connection that is lost earlier counts as a failed attempt. */
const stableMs = 5_000;
const closeTimeoutMs = 500;

/**
 * A bus over a server. It connects again by itself, for as long as it is open, and it is up while its connection receives
 * its own pings.
 */
export class NetworkBus implements Bus {
  readonly counts = new BusCounts();
  readonly #id = randomUUID();
  readonly #driver: BusDriver;
  readonly #options: BusOptions;
  readonly #listeners = createListeners();
  readonly #outbox: Outbox;
  readonly #stateListeners: (() => void)[] = [];
  /** The subscriptions of topics that the server has not confirmed yet. */
  readonly #subscribing = new Map<string, Promise<void>>();
  readonly #closed = new AbortController();
  #connection: CheckedConnection | undefined;
  #isUp = false;
  #isReportedDown = false;

  constructor(driver: BusDriver, options: BusOptions) {
    this.#driver = driver;
    this.#options = options;
    const wakeUp = encode(this.#id, { type: 'anythingMayHaveChanged' }, driver.maxMessageBytes);
    this.#outbox = new Outbox({ maxInFlight: driver.maxInFlight, wakeUp, counts: this.counts });
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
    this.#deliver(message);
    if (!this.#closed.signal.aborted) this.#outbox.add(encode(this.#id, message, this.#driver.maxMessageBytes));
  }

  async subscribe(topic: string, listener: BusListener): Promise<() => void> {
    const remove = addListener(this.#listeners, topic, listener, this.#options.onError);
    if (this.#listeners.listenerCount(topic) === 1) this.#subscribeTo(topic);
    await this.#subscribing.get(topic);
    return () => {
      remove();
      if (this.#listeners.listenerCount(topic) > 0) return;
      this.#subscribing.delete(topic);
      // The next connection subscribes only to topics that have listeners.
      this.#connection?.unsubscribe(topic).catch(() => {});
    };
  }

  get kind(): BusKind {
    return this.#driver.kind;
  }

  waitingCount(): number {
    return this.#outbox.size;
  }

  hasBacklog(): boolean {
    return this.#outbox.hasBacklog;
  }

  listenerCount(): number {
    return countListeners(this.#listeners);
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
    this.#listeners.removeAllListeners();
    this.#stateListeners.length = 0;
  }

  #subscribeTo(topic: string): void {
    const connection = this.#connection;
    if (!connection) return;
    const confirmed = connection
      .subscribe([topic])
      // The next connection subscribes again.
      .catch((error) => connection.lose(error))
      .finally(() => {
        if (this.#subscribing.get(topic) === confirmed) this.#subscribing.delete(topic);
      });
    this.#subscribing.set(topic, confirmed);
  }

  async #stayConnected(onFirstAttempt: () => void): Promise<void> {
    const { signal } = this.#closed;
    for (let failures = 0; !signal.aborted; failures += 1) {
      const connection = new CheckedConnection({
        driver: this.#driver,
        id: this.#id,
        onMessage: (message) => this.#receive(message),
        onError: this.#options.onError,
      });
      const close = () => connection.lose(new Error('the bus was closed'));
      signal.addEventListener('abort', close);
      let upSince = Number.POSITIVE_INFINITY;
      try {
        await this.#connect(connection);
        upSince = performance.now();
        this.#up();
        onFirstAttempt();
        await connection.keepAlive();
      } catch (error) {
        if (performance.now() - upSince >= stableMs) failures = 0;
        if (!signal.aborted) this.#down(error);
      } finally {
        signal.removeEventListener('abort', close);
        // Subscribers that wait for it stop waiting.
        close();
        this.#connection = undefined;
        this.#outbox.sendWith(undefined);
      }
      onFirstAttempt();
      await wait(retryDelay(failures), undefined, { ref: false, signal }).catch(() => {});
    }
  }

  /** Resolves when the connection has received its own ping. */
  async #connect(connection: CheckedConnection): Promise<void> {
    const timeout = setTimeout(() => connection.lose(new Error('no answer within two seconds')), connectTimeoutMs);
    try {
      await connection.open();
      this.#connection = connection;
      // Topics that are subscribed to meanwhile are sent to the connection by `subscribe`.
      await connection.subscribe([...new Set([commonTopic, ...this.#listeners.eventNames()])]);
      await connection.ping();
      this.#outbox.sendWith((batch) => connection.send(batch));
    } finally {
      clearTimeout(timeout);
    }
  }

  #receive(message: BusMessage): void {
    if (isWakeUp(message)) this.counts.wakeUps += 1;
    else this.counts.received += 1;
    this.#deliver(message);
  }

  #deliver(message: BusMessage): void {
    this.#listeners.emit(topicOf(message), message);
  }

  #up(): void {
    this.#isUp = true;
    if (this.#isReportedDown) this.#options.onUp?.();
    this.#isReportedDown = false;
    this.#notify();
    // Messages may have been lost meanwhile.
    this.#deliver({ type: 'anythingMayHaveChanged' });
  }

  #down(error: unknown): void {
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
