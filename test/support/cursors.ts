import { readEvents } from './events.ts';
import { forgeCursor } from './live-client.ts';
import type { Postroom } from './postroom.ts';

/**
 * The cursors of a room whose log is complete: index 0 is the position before the first event, index n after event n.
 */
export async function cursorsOf(postroom: Postroom, room: string, count: number): Promise<string[]> {
  const start = forgeCursor('00000000', 0, room);
  const events = count === 0 ? [] : await readEvents(postroom, { room, after: start, count });
  return [start, ...events.map(({ cursor }) => cursor)];
}
