import type { StreamEvent } from '../data/events.ts';
import { encodeCursor } from '../live/cursor.ts';
import { EncodedEvent } from '../live/encoded-event.ts';
import type { Answer } from './answer.ts';

/** Serialises an event of one room, whose cursor a client can resume after. */
export function encodeRoomEvent(event: StreamEvent, body: Answer['body']): EncodedEvent {
  const cursor = encodeCursor(event);
  return new EncodedEvent(event, cursor, JSON.stringify({ ...body, extensions: { live: { cursor } } }));
}

/**
 * Serialises an event of an inbox, which names its room: no single cursor is enough to resume. The last message of a room
 * has `ended`, so that its client can forget the cursor of this room.
 */
export function encodeInboxEvent(event: StreamEvent, body: Answer['body']): EncodedEvent {
  const { roomId: room, type } = event;
  const live = { room, cursor: encodeCursor(event) };
  const toJson = (extension: object) => JSON.stringify({ ...body, extensions: { live: extension } });
  const last = () => new EncodedEvent(event, undefined, toJson({ ...live, ended: true }));
  if (type === 'RoomDeleted') return last();
  return new EncodedEvent(event, undefined, toJson(live), type === 'MemberLeft' ? last() : undefined);
}
