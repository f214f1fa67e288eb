import type { ViewerScope } from '../data/domain/visible-rooms.ts';
import type { LogPosition, StreamEvent } from '../data/event-log/events.ts';
import type { Span } from '../tracing/tracing.ts';
import type { StreamTransport } from './live-counts.ts';
import type { EncodedEvent, StreamMessage } from './stream.ts';

/** The result of a selection that read the viewer: it cannot be shared between viewers. */
export const personal = Symbol('personal');

/** Executes a selection for a value and serialises the result; null if the selection leaves the value out. */
type Execute<Value, Message> = (value: Value, span?: Span) => Promise<Message | null | typeof personal>;
export type ExecuteEvent = Execute<StreamEvent, EncodedEvent>;

/** What a subscription selects from each event or state, and for whom. */
export interface StreamRequest<Value = never, Message = StreamMessage> {
  /** Equal for requests with equal document, operation and variables. */
  key: string;
  /**
   * Shared by all requests of the operation. `isPersonal` is set permanently when the operation is found to read the
   * viewer.
   */
  traits: { isPersonal: boolean };
  /**
   * Decides which rooms are visible to the viewer; access to a room is checked again after each event that may change it.
   */
  viewerScope: ViewerScope;
  /** Equal for viewers who see the same. */
  viewerKey: string;
  /** The cost of the operation for each event or state. */
  cost: number;
  transport: StreamTransport;
  /** The client's address. */
  address: string;
  /** Equal for viewers who share the limits of one user; null without credentials. */
  chargedId: string | null;
  /** Called when the stream has ended. */
  onEnd: () => void;
  /** Executes the selection without a viewer; returns `personal` if the selection reads the viewer. */
  executeShared: Execute<Value, Message>;
  executePersonal: Execute<Value, Message>;
}

/** What a subscription selects from each event. */
export type Selection = StreamRequest<StreamEvent, EncodedEvent>;

export interface SubscribeRequest extends Selection {
  roomId: string;
  /** The cursor to resume after; undefined: only new events. */
  after: string | undefined;
  /** The head of the room at the time of the request: no later event is missed, even if the feed takes long to open. */
  head: LogPosition;
}

/** Equal for selections that are executed together. */
export function groupKeyOf({ key, traits, viewerKey }: Pick<StreamRequest, 'key' | 'traits' | 'viewerKey'>): string {
  return traits.isPersonal ? `${key} ${viewerKey}` : key;
}
