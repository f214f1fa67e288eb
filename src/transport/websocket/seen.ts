import { maxInboxRooms } from '../../live/inbox/inbox-request.ts';

/** In characters: the maximum length of a client's string that the server keeps, such as the id of an operation. */
const maxKeptLength = 200;
/** The number of operations whose cursors clients may send in any case, beside those of an inbox. */
const minOperations = 100;

/** The cursors that each operation had reached before its client reconnected, by the operation's id. */
export type SeenPositions = Map<string, readonly string[]>;

/**
 * The entries of `connectionParams.live.seen`; nothing else in `live` is read. An entry is a cursor, or the cursors of an
 * inbox: a list, or a map by room and user; null stands for no cursor. A text describes an invalid entry, as the reason of a close
 * frame: to ignore the entry would lose events silently.
 */
export function readSeen(live: unknown, maxEntries: number): SeenPositions | string {
  const given = typeof live === 'object' && live !== null && 'seen' in live ? live.seen : undefined;
  if (typeof given !== 'object' || given === null) return new Map();
  const seen: SeenPositions = new Map();
  for (const [id, value] of Object.entries(given)) {
    if (value === null) continue;
    const cursors: unknown[] =
      typeof value === 'object' ? Object.values(value).filter((cursor) => cursor !== null) : [value];
    if (!cursors.every((cursor) => typeof cursor === 'string')) return 'live.seen has a cursor that is not a string';
    seen.set(id, cursors);
  }
  return findFault(seen, maxEntries) ?? seen;
}

function findFault(seen: SeenPositions, maxEntries: number): string | undefined {
  if (seen.size > maxEntries) return `live.seen has ${seen.size} entries: at most ${maxEntries} are allowed`;
  const count = seen.values().reduce((sum, { length }) => sum + length, 0);
  const maxCursors = maxInboxRooms + Math.max(minOperations, maxEntries);
  if (count > maxCursors) return `live.seen has ${count} cursors: at most ${maxCursors} are allowed`;
  for (const [id, cursors] of seen) {
    if (id.length > maxKeptLength) return tooLong('live.seen has an id', id);
    const long = cursors.find(({ length }) => length > maxKeptLength);
    if (long !== undefined) return tooLong('live.seen has a cursor', long);
  }
  return undefined;
}

/** Describes what is wrong with the `id` of a message; undefined if it is valid. */
export function findIdFault(id: unknown): string | undefined {
  if (typeof id !== 'string' || id === '') return 'The id of a message must be a string that is not empty';
  return id.length > maxKeptLength ? tooLong('The operation has an id', id) : undefined;
}

function tooLong(subject: string, { length }: string): string {
  return `${subject} of ${length} characters: at most ${maxKeptLength} are allowed`;
}

/** The memory of an entry in bytes: its strings, and its place in the map. */
export function bytesOfSeen(id: string, cursors: readonly string[]): number {
  return 150 + 2 * id.length + cursors.reduce((sum, { length }) => sum + 40 + 2 * length, 0);
}
