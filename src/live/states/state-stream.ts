import { ClientError } from '../../errors.ts';
import { LiveStream, type LiveStreamParts } from '../live-stream.ts';
import type { StreamMessage } from '../stream.ts';
import type { StreamRequest } from '../subscribe-request.ts';

/** A subscription to a state. Its `cost` is that of each state. */
export type StateRequest<State> = StreamRequest<State, StreamMessage>;

interface StateStreamParts<State> extends LiveStreamParts<StateRequest<State>> {
  /** Whether a state that equals the one before is left out. */
  onlyChanges: boolean;
  onStart: () => void;
}

/** The stream of one client. A client that has not read everything receives only the latest state when it has. */
export class StateStream<State> extends LiveStream<StateStreamParts<State>> {
  /** The state that waits until the client has read; undefined if none waits. */
  #latest: StreamMessage | undefined;
  #lastJson: string | undefined;
  /** Whether the client has read the state before. */
  #hasRead = true;

  /** It cannot be resumed. */
  get cursor(): undefined {
    return undefined;
  }

  /** Never throws. */
  deliver(message: StreamMessage): void {
    const { sink } = this;
    if (!sink) return;
    if (!this.#hasRead) return this.#setLatest(message);
    if (this.parts.onlyChanges && message.json === this.#lastJson) return;
    this.#lastJson = message.json;
    this.#hasRead = false;
    try {
      sink.write(message);
      sink.onceRead(() => this.#deliverLatest());
    } catch (error) {
      sink.fail(error);
    }
  }

  endAsSlowConsumer(): void {
    this.end(new ClientError('SLOW_CONSUMER'));
  }

  protected begin(): void {
    this.parts.onStart();
  }

  #deliverLatest(): void {
    this.#hasRead = true;
    const latest = this.#latest;
    this.#setLatest(undefined);
    if (latest) this.deliver(latest);
  }

  #setLatest(message: StreamMessage | undefined): void {
    this.#latest = message;
    this.setWaiting(message !== undefined);
  }
}
