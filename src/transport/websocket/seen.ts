import { maxInboxRooms } from '../../live/inbox/inbox-request.ts';

/** In characters: the maximum length of a client's string that the server keeps, such as the id of an operation. */
const maxKeptLength = 200;
/** The number of operations whose cursors clients may send in any case, beside those of an inbox. */
const minOperations = 100;

/** The cursors that each operation had reached before its client reconnected, by the operation's id. */
export type SeenPositions = Map<string, readonly string[]>;

/**
 * The entries of `connectionParams.live.seen`; nothing else in `live` is read. An entry is a cursor, or the cursors of an
 * inbox: a list, or a map by room.
 */
export function readSeen(live: unknown): SeenPositions {
  const seen = typeof live === 'object' && live !== null && 'seen' in live ? live.seen : undefined;
  if (typeof seen !== 'object' || seen === null) return new Map();
  const entries = Object.entries(seen).map(([id, value]) => [id, readCursors(value)] as const);
  return new Map(entries.filter((entry): entry is [string, string[]] => entry[1] !== undefined));
}

function readCursors(value: unknown): string[] | undefined {
  if (typeof value === 'string') return [value];
  const cursors: unknown[] | undefined = typeof value === 'object' && value !== null ? Object.values(value) : undefined;
  return cursors?.every((cursor) => typeof cursor === 'string') ? cursors : undefined;
}

/** Describes an invalid entry, as the reason of a close frame. To ignore the entry would lose events silently. */
export function findSeenFault(seen: SeenPositions, maxEntries: number): string | undefined {
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
