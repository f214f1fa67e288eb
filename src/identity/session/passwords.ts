import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { LimitedQueue } from '../../limited-queue.ts';

const hash = promisify(argon2);

/** One of the four threads of libuv's pool stays free for others, such as the flushes of SQLite's write-ahead log. */
const hashes = new LimitedQueue({ maxRunning: 3 });

function argon2id(parameters: Argon2Parameters): Promise<Buffer> {
  return hashes.run(() => hash('argon2id', parameters));
}

/** The cost of a hash; memory in KiB. */
export interface PasswordCost {
  memory: number;
  passes: number;
}

/** OWASP's second recommendation for argon2id. */
export const recommendedCost: PasswordCost = { memory: 19_456, passes: 2 };

const parallelism = 1;
const saltBytes = 16;
const hashBytes = 32;

/** Hashes passwords, and verifies them whatever the cost of their hash. */
export class Passwords {
  readonly #cost: PasswordCost;
  readonly #decoy: string;

  constructor(cost: PasswordCost = recommendedCost) {
    this.#cost = cost;
    this.#decoy = format(cost, randomBytes(saltBytes), randomBytes(hashBytes));
  }

  /** An argon2id hash in PHC form: `$argon2id$v=19$m=…,t=…,p=…$salt$hash`. */
  async hash(password: string): Promise<string> {
    const nonce = randomBytes(saltBytes);
    const hash = await argon2id({ message: password, nonce, ...this.#cost, parallelism, tagLength: hashBytes });
    return format(this.#cost, nonce, hash);
  }

  /** Takes the same time with and without a stored hash, so that the time does not reveal whether an account exists. */
  async verify(password: string, stored: string | null | undefined): Promise<boolean> {
    const [, , , parameters, salt, expected] = (stored ?? this.#decoy).split('$');
    const [memory, passes, parallelism] = (parameters ?? '').split(',').map((part) => Number(part.slice(2)));
    if (!memory || !passes || !parallelism || !salt || !expected)
      throw new Error('a stored password hash is not in PHC form');
    const tag = Buffer.from(expected, 'base64');
    const nonce = Buffer.from(salt, 'base64');
    const hash = await argon2id({ message: password, nonce, memory, passes, parallelism, tagLength: tag.length });
    return timingSafeEqual(hash, tag) && stored != null;
  }
}

function format({ memory, passes }: PasswordCost, salt: Buffer, hash: Buffer): string {
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${toBase64(salt)}$${toBase64(hash)}`;
}

function toBase64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}
