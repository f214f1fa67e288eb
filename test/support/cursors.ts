import { readEvents } from './events.ts';
import { forgeCursor } from './live-client.ts';
import type { Postroom } from './postroom.ts';

/** The cursors of a room whose log is whole: at 0 the one before the first event, at n the one after event n. */
export async function cursorsOf(postroom: Postroom, room: string, count: number): Promise<string[]> {
  const start = forgeCursor('00000000', 0, room);
  const events = count === 0 ? [] : await readEvents(postroom, { room, after: start, count });
  return [start, ...events.map(({ cursor }) => cursor)];
}
