import { randomBytes } from 'node:crypto';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const prefixes = { User: 'u', Post: 'p', Room: 'r', ApiKey: 'k' } as const;

export type NodeType = keyof typeof prefixes;

let lastTime = 0;
let lastRandom = 0n;

/**
 * An opaque id, unique over all types. Ids ascend by time of creation: strictly in one process, by milliseconds across
 * processes.
 */
export function createId(type: NodeType, now = Date.now()): string {
  if (now > lastTime) {
    lastTime = now;
    lastRandom = BigInt(`0x0${randomBytes(10).toString('hex').slice(1)}`);
  } else {
    lastRandom += 1n;
  }
  return prefixes[type] + encode(BigInt(lastTime), 10) + encode(lastRandom, 16);
}

/** The type of an id, or undefined if the text is not an id of Postroom. */
export function findNodeType(id: string): NodeType | undefined {
  if (!/^[uprk][0-9a-hjkmnp-tv-z]{26}$/.test(id)) return undefined;
  return (Object.keys(prefixes) as NodeType[]).find((type) => id.startsWith(prefixes[type]));
}

function encode(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest >>= 5n) text = alphabet.charAt(Number(rest & 31n)) + text;
  return text;
}
