import type { InboxEvent } from '../../data/events.ts';
import type { Feed } from '../feed/feed.ts';

/** The event that tells an inbox that a room was deleted. It has the room as it was before. */
export function createRoomDeleted({ roomId, head, room, deletion }: Feed): InboxEvent {
  const { actorId = null, at = Date.now() } = deletion ?? {};
  const subject = { subjectId: roomId, version: room?.version ?? 0 };
  return { ...head, ...subject, type: 'RoomDeleted', roomId, previousMark: 0, actorId, at, room };
}
