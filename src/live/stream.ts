import type { Failing } from '../common/contain.ts';
import type { ViewerScope } from '../data/domain/visible-rooms.ts';
import type { LogPosition, StreamEvent } from '../data/event-log/events.ts';
import type { ClientError, ErrorCode } from '../errors.ts';
import type { Span } from '../tracing/tracing.ts';
import type { StreamEnd, StreamTransport } from './live-counts.ts';

/** Encodes a message for a transport; all receivers of the message on this transport share the bytes. */
export type Encoder = (message: StreamMessage) => Buffer;

/** One message of a stream: serialised once, and encoded once per transport. */
export class StreamMessage {
  /** The position after the message, in the form that clients send back; undefined if the stream cannot be resumed. */
  readonly cursor: string | undefined;
  /** The execution result as JSON. */
  readonly json: string;
  readonly #encoded = new Map<Encoder, Buffer>();

  constructor(cursor: string | undefined, json: string) {
    this.cursor = cursor;
    this.json = json;
  }

  encode(encoder: Encoder): Buffer {
    let encoded = this.#encoded.get(encoder);
    if (!encoded) {
      encoded = encoder(this);
      this.#encoded.set(encoder, encoded);
    }
    return encoded;
  }
}

/** One event for one group of subscribers: executed once, and serialised once. */
export class EncodedEvent extends StreamMessage {
  readonly roomId: string;
  /** The position after the event; subscribers that have received the event share this object. */
  readonly position: LogPosition;
  /** The position before the event. */
  readonly previous: LogPosition;
  /** The id of the user who left the room with this event. */
  readonly leftBy: string | undefined;
  /** The time of the event, in milliseconds since 1970. */
  readonly at: number;

  constructor(event: StreamEvent, cursor: string | undefined, json: string) {
    const { seq, mark, previousMark, at } = event;
    super(cursor, json);
    this.roomId = event.roomId;
    this.at = at;
    this.leftBy = event.type === 'MemberLeft' ? event.subjectId : undefined;
    this.position = { seq, mark };
    this.previous = { seq: seq - 1, mark: previousMark };
  }
}

/** The place where a transport sends a stream: one operation on a WebSocket, or one HTTP response. */
export interface Sink extends Failing {
  /** Writes one message; it never fails. `at`: the time of a live event, in milliseconds since 1970. */
  write(message: StreamMessage, at?: number): void;
  /** Whether more bytes wait on the socket than a live stream may have. */
  isFull(): boolean;
  /** Calls back once, when the socket has drained. */
  onceDrained(resume: () => void): void;
  /** Calls back once, when the client has read what was written so far, as far as the transport can tell. */
  onceRead(resume: () => void): void;
  /** All events of the past were written; only called for a stream that resumes. */
  caughtUp?(): void;
  /** Ends the stream; `error` is the reason. */
  end(error: ClientError): void;
  /** Closes the connection because the stream cannot continue here or now; the client can resume it. */
  disconnect(): void;
}

/** A subscription that was opened for one client. It is the only form in which a transport sees a subscription. */
export interface Stream {
  /** The position from which the client can resume, or those of many rooms by id; undefined if it cannot. */
  readonly cursor: string | Readonly<Record<string, string>> | undefined;
  /** Of a stream of many rooms: the cursor of the log of its user, by the user's id. */
  readonly userCursor?: Readonly<Record<string, string>>;
  /** Whether events of the past are still to be sent. */
  readonly isReplaying: boolean;
  /** Sends the messages after the position to the sink, until either side ends the stream. */
  start(sink: Sink): void;
  /**
   * Ends the stream because its connection or its operation is over, and releases all that it holds. The sink is not
   * called again.
   */
  stop(reason: StreamEnd | ErrorCode): void;
  /** Ends the stream from the server's side; the sink receives the reason. */
  end(error: ClientError): void;
  /** The client is too slow for this message: it must query its data again and resume from there. */
  endAsSlowConsumer(message: StreamMessage): void;
}

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
