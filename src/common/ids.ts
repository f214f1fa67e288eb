import { randomFillSync, randomInt } from 'node:crypto';
import { decodeTime, monotonicFactory } from 'ulid';

export const prefixes = { User: 'u', Post: 'p', Room: 'r', ApiKey: 'k', Invitation: 'i' } as const;

// The default source of ulid asks the system for each of the 16 random characters.
const createUlid = monotonicFactory(() => randomInt(32) / 32);

/**
 * An opaque id, unique over all types. Ids ascend by time of creation: strictly in one process, by milliseconds across
 * processes.
 */
export function createId(type: keyof typeof prefixes): string {
  return createPrefixedId(prefixes[type]);
}

/** `prefix`: that of a type, up to 8 letters. */
export function createPrefixedId(prefix: string): string {
  return prefix + createUlid().toLowerCase();
}

/**
 * The id of a connection, and the time of its start, which the id contains: both ascend, also if the clock is set back.
 */
export function createConnectionId(): { id: string; since: number } {
  const ulid = createUlid();
  return { id: `c${ulid.toLowerCase()}`, since: decodeTime(ulid) };
}

const requestIdBytes = 16;
/** For 256 request ids. */
const randomBytes = Buffer.alloc(256 * requestIdBytes);
let usedBytes = randomBytes.length;

/** 128 random bits in hexadecimal. A UUID from Node takes 0.5 kB until it is read, and each subscription holds its id. */
export function createRequestId(): string {
  if (usedBytes === randomBytes.length) {
    randomFillSync(randomBytes);
    usedBytes = 0;
  }
  usedBytes += requestIdBytes;
  return randomBytes.toString('hex', usedBytes - requestIdBytes, usedBytes);
}

/** Undefined if the text is not an id. */
export function idPrefixOf(id: string): string | undefined {
  return /^([a-z]{1,8})[0-9a-hjkmnp-tv-z]{26}$/.exec(id)?.[1];
}

/** The prefixes of ids that extensions cannot have: those of rows, and that of connections. */
export const ownPrefixes: readonly string[] = [...Object.values(prefixes), 'c'];
