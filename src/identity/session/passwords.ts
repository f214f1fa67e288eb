import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { LimitedQueue, type Requester, requestQueueLimits } from '../../common/limited-queue.ts';
import { ClientError } from '../../errors.ts';

const hash = promisify(argon2);

/** A processor stays free for the event loop, and a thread of libuv's pool for flushes of SQLite's write-ahead log. */
const maxRunning = Math.min(3, Math.max(1, availableParallelism() - 1));

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

/**
 * Hashes passwords, and verifies them whatever the cost of their hash. Both reject with SERVICE_UNAVAILABLE if too many
 * wait, or with the reason of the cancellation.
 */
export class Passwords {
  readonly #queue = new LimitedQueue({
    ...requestQueueLimits,
    maxRunning,
    refusal: () => new ClientError('SERVICE_UNAVAILABLE', 'Too many passwords wait to be hashed.'),
  });
  readonly #cost: PasswordCost;
  readonly #decoy: string;

  constructor(cost: PasswordCost = recommendedCost) {
    this.#cost = cost;
    this.#decoy = format(cost, randomBytes(saltBytes), randomBytes(hashBytes));
  }

  /** An argon2id hash in PHC form: `$argon2id$v=19$m=…,t=…,p=…$salt$hash`. */
  async hash(password: string, requester: Requester): Promise<string> {
    const nonce = randomBytes(saltBytes);
    const parameters = { message: password, nonce, ...this.#cost, parallelism, tagLength: hashBytes };
    return format(this.#cost, nonce, await this.#run(parameters, requester));
  }

  /** Takes the same time with and without a stored hash, so that the time does not reveal whether an account exists. */
  async verify(password: string, stored: string | null | undefined, requester: Requester): Promise<boolean> {
    const [, , , cost, salt, expected] = (stored ?? this.#decoy).split('$');
    const [memory, passes, parallelism] = (cost ?? '').split(',').map((part) => Number(part.slice(2)));
    if (!memory || !passes || !parallelism || !salt || !expected)
      throw new Error('a stored password hash is not in PHC form');
    const tag = Buffer.from(expected, 'base64');
    const nonce = Buffer.from(salt, 'base64');
    const parameters = { message: password, nonce, memory, passes, parallelism, tagLength: tag.length };
    return timingSafeEqual(await this.#run(parameters, requester), tag) && stored != null;
  }

  #run(parameters: Argon2Parameters, requester: Requester): Promise<Buffer> {
    return this.#queue.run(() => hash('argon2id', parameters), requester);
  }
}

function format({ memory, passes }: PasswordCost, salt: Buffer, hash: Buffer): string {
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${toBase64(salt)}$${toBase64(hash)}`;
}

function toBase64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}
