import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const hash = promisify(argon2);

/** One of the four threads of libuv's pool stays free for others, such as the flushes of SQLite's write-ahead log. */
const maxHashes = 3;
let hashCount = 0;
const waiting: (() => void)[] = [];

async function argon2id(parameters: Argon2Parameters): Promise<Buffer> {
  if (hashCount < maxHashes) hashCount += 1;
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    return await hash('argon2id', parameters);
  } finally {
    const next = waiting.shift();
    if (next) next();
    else hashCount -= 1;
  }
}

/** OWASP's second recommendation for argon2id; memory in KiB. */
const cost = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 };

/** An argon2id hash in PHC form: `$argon2id$v=19$m=…,t=…,p=…$salt$hash`. */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16);
  const hash = await argon2id({ message: password, nonce, ...cost });
  const parameters = `m=${cost.memory},t=${cost.passes},p=${cost.parallelism}`;
  return `$argon2id$v=19$${parameters}$${toBase64(nonce)}$${toBase64(hash)}`;
}

/** Takes the same time with and without a stored hash, so that the time does not reveal whether an account exists. */
export async function verifyPassword(password: string, stored: string | null | undefined): Promise<boolean> {
  const [, , , parameters, salt, expected] = (stored ?? (await decoyHash)).split('$');
  const [memory, passes, parallelism] = (parameters ?? '').split(',').map((part) => Number(part.slice(2)));
  if (!memory || !passes || !parallelism || !salt || !expected)
    throw new Error('a stored password hash is not in PHC form');
  const tag = Buffer.from(expected, 'base64');
  const nonce = Buffer.from(salt, 'base64');
  const hash = await argon2id({ message: password, nonce, memory, passes, parallelism, tagLength: tag.length });
  return timingSafeEqual(hash, tag) && stored != null;
}

const decoyHash = hashPassword(randomBytes(16).toString('hex'));

function toBase64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}
