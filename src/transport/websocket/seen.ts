/** In characters: the maximum length of a client's string that the server keeps, such as the id of an operation. */
const maxKeptLength = 200;

/** The cursor that each operation had reached before its client reconnected, by the operation's id. */
export type SeenPositions = Map<string, string>;

/** The entries of `connectionParams.live.seen`; nothing else in `live` is read. */
export function readSeen(live: unknown): SeenPositions {
  const seen = typeof live === 'object' && live !== null && 'seen' in live ? live.seen : undefined;
  if (typeof seen !== 'object' || seen === null) return new Map();
  return new Map(Object.entries(seen).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

/** Describes an invalid entry, as the reason of a close frame. To ignore the entry would lose events silently. */
export function findSeenFault(seen: SeenPositions, maxEntries: number): string | undefined {
  if (seen.size > maxEntries) return `live.seen has ${seen.size} entries: at most ${maxEntries} are allowed`;
  for (const [id, cursor] of seen) {
    if (id.length > maxKeptLength) return tooLong('live.seen has an id', id);
    if (cursor.length > maxKeptLength) return tooLong('live.seen has a cursor', cursor);
  }
  return undefined;
}

/** Describes what is wrong with the id of an operation; undefined if it is valid. */
export function findIdFault(id: string): string | undefined {
  return id.length > maxKeptLength ? tooLong('The operation has an id', id) : undefined;
}

function tooLong(subject: string, { length }: string): string {
  return `${subject} of ${length} characters: at most ${maxKeptLength} are allowed`;
}

/** The memory of an entry in bytes: its strings, and its place in the map. */
export function bytesOfSeen(id: string, cursor: string): number {
  return 150 + 2 * (id.length + cursor.length);
}
