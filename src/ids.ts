import { randomFillSync, randomInt } from 'node:crypto';
import { decodeTime, monotonicFactory } from 'ulid';

const prefixes = { User: 'u', Post: 'p', Room: 'r', ApiKey: 'k' } as const;

export type NodeType = keyof typeof prefixes;

// The default source of ulid asks the system for each of the 16 random characters.
const createUlid = monotonicFactory(() => randomInt(32) / 32);

/**
 * An opaque id, unique over all types. Ids ascend by time of creation: strictly in one process, by milliseconds across
 * processes.
 */
export function createId(type: NodeType): string {
  return prefixes[type] + createUlid().toLowerCase();
}

/**
 * The id of a connection, and the time of its start, which the id contains: both ascend, also if the clock is set back.
 */
export function createConnectionId(): { id: string; since: number } {
  const ulid = createUlid();
  return { id: `c${ulid.toLowerCase()}`, since: decodeTime(ulid) };
}

const requestIdBytes = 16;
const random = Buffer.alloc(256 * requestIdBytes);
let used = random.length;

/** 128 random bits. A UUID of Node takes 0.5 kB until somebody reads it, and each subscription holds one. */
export function createRequestId(): string {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  used += requestIdBytes;
  return random.toString('hex', used - requestIdBytes, used);
}

/** The type of an id, or undefined if the text is not an id of Postroom. */
export function findNodeType(id: string): NodeType | undefined {
  if (!/^[uprk][0-9a-hjkmnp-tv-z]{26}$/.test(id)) return undefined;
  return (Object.keys(prefixes) as NodeType[]).find((type) => id.startsWith(prefixes[type]));
}
