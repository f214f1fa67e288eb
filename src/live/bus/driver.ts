import type { BusKind } from './bus.ts';
import type { EncodedMessage } from './wire-format.ts';

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
