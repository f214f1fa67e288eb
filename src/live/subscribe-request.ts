import type { LogPosition, RoomEvent } from '../data/events.ts';
import type { VisibleRooms } from '../data/visible-rooms.ts';
import type { EncodedEvent } from './encoded-event.ts';

/** A selection asked who is looking: what it saw cannot be shared. */
export const personal = Symbol('personal');

/** An event as a selection sees it; null where the selection leaves it out. */
export type Render = (event: RoomEvent) => Promise<EncodedEvent | null | typeof personal>;

export interface SubscribeRequest {
  roomId: string;
  /** A cursor to go on behind; absent: from now on. */
  after: string | undefined;
  /** The end of the room's log when the subscription was asked for: nothing since then is missed, whatever the feed waits for. */
  head: LogPosition;
  /** Equal where document, operation and variables are. */
  key: string;
  /** Of the operation, for all who send it: set for good once it was found to ask for the viewer. */
  traits: { isPersonal: boolean };
  /** Which rooms the viewer sees: whether this one still is among them is looked at anew where it may have changed. */
  visibleRooms: VisibleRooms;
  /** Equal for equal viewers. */
  viewerKey: string;
  /** Of the operation, for each event. */
  cost: number;
  /** The client's address. */
  address: string;
  /** Called when the stream is over. */
  onLeave: () => void;
  /** Has no viewer in reach. */
  renderShared: Render;
  renderPersonal: Render;
}
