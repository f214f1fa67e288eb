import type { LogPosition } from '../data/event-log/events.ts';

/** A position in the log of one room, or of one user: `roomId` is then the id of the user. */
export interface RoomPosition extends LogPosition {
  roomId: string;
}

export function encodeCursor({ mark, seq, roomId }: RoomPosition): string {
  return Buffer.from(`${mark.toString(16).padStart(8, '0')}.${seq}.${roomId}`).toString('base64url');
}

/** The position of a cursor, or undefined if the text is not a cursor. */
export function decodeCursor(cursor: string): RoomPosition | undefined {
  if (cursor.length > 200) return undefined;
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  const [, mark, seq, roomId] = /^([0-9a-f]{8})\.(0|[1-9]\d{0,14})\.([0-9a-z]+)$/.exec(text) ?? [];
  if (mark === undefined || seq === undefined || roomId === undefined) return undefined;
  const position = { mark: Number.parseInt(mark, 16), seq: Number(seq), roomId };
  return encodeCursor(position) === cursor ? position : undefined;
}
