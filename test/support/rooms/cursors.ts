import type { Postroom } from '../server/postroom.ts';
import { readEvents } from './events.ts';

/** Decodes a cursor, for tests that count events or forge cursors. */
export function openCursor(cursor: string): { mark: string; seq: number; roomId: string } {
  const [mark = '', seq = '', roomId = ''] = Buffer.from(cursor, 'base64url').toString().split('.');
  return { mark, seq: Number(seq), roomId };
}

export function forgeCursor(mark: string, seq: number | string, roomId: string): string {
  return Buffer.from(`${mark}.${seq}.${roomId}`).toString('base64url');
}

/** The sequence number of the event at a cursor. */
export function seqOf(cursor: string): number {
  return openCursor(cursor).seq;
}

/** The number of the first event of a room, the `MemberJoined` of its owner. */
export const firstSeq = 1;

/** The numbers after `from` up to `to`: a reader must receive each of them once, in this order. */
export function seqsBetween(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index + 1);
}

/**
 * The cursors of a room whose log is complete: index 0 is the position before the first event, index n after event n.
 */
export async function cursorsOf(postroom: Postroom, room: string, count: number): Promise<string[]> {
  const start = forgeCursor('00000000', 0, room);
  const events = count === 0 ? [] : await readEvents(postroom, { room, after: start, count });
  return [start, ...events.map(({ cursor }) => cursor)];
}
