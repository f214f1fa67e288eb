import type { Socket } from 'node:net';
import type { Answer } from '../../engine/answer.ts';
import type { PreparedOperation } from '../../engine/operation.ts';
import type { Call } from '../../engine/operation-reports.ts';
import { ClientError } from '../../errors.ts';

/** Both limits are numbers of answers of the maximum length. */
const perAddress = 3;
const perProcess = 25;
/** An answer up to this length may always be sent; it is counted only while it waits on its socket. */
export const maxShortAnswer = 16_384;

/** The memory of an answer while its result is held and its JSON is sent: from 2 bytes for ASCII to 4 for emoji. */
const bytesPerCharacter = 3;

/** For long bodies, unless one of the maximum length needs more. */
const sharedBytes = 16_000_000;
/** Longer bodies pass further checks before they are read. */
export const maxShortBody = 16_384;

/** Counts bytes that clients hold, for each address and for the process. */
class BytesByAddress {
  total = 0;
  readonly #byAddress = new Map<string, number>();

  of(address: string): number {
    return this.#byAddress.get(address) ?? 0;
  }

  /** `bytes` is negative when they are released. */
  add(address: string, bytes: number): void {
    this.total += bytes;
    const ofAddress = this.of(address) + bytes;
    if (ofAddress > 0) this.#byAddress.set(address, ofAddress);
    else this.#byAddress.delete(address);
  }
}

/**
 * Bounds the memory of request bodies that are still incomplete. Each body has `maxShortBody` of its own, which is enough
 * for most. Larger bodies share one budget: 500 clients that withhold the last byte of 1 MB hold 16 MB instead of 500.
 * The bodies of an address hold at most as much as is left for others, so that no address uses up the budget.
 */
export class BodyBudget extends BytesByAddress {
  readonly #maxBytes: number;

  constructor(maxBodyBytes: number) {
    super();
    this.#maxBytes = Math.max(sharedBytes, 4 * maxBodyBytes);
  }

  /** Whether `bytes` more, in addition to `maxShortBody`, fit in the budget now. */
  fits(address: string, bytes: number): boolean {
    return bytes <= 0 || this.of(address) + bytes <= this.#maxBytes - this.total - bytes;
  }
}

/** An answer; a long one is counted until `release` is called. */
export interface ReservedAnswer extends Answer {
  release?: () => void;
}

type RunningCall = Pick<Call, 'address' | 'cancellation'>;

/**
 * Bounds the bytes of answers that wait on sockets whose clients do not read them, for each address and for the
 * process. While a bound is exceeded, operations are refused before they run. Without it, one address could hold 10 MB
 * for each operation of its rate: 1 GB (see the attacks on unread answers).
 */
export class AnswerBudget {
  readonly #maxAnswerBytes: number;
  readonly #held = new BytesByAddress();
  /** The queries that run or wait for their turn. */
  readonly #queries = new Set<RunningCall>();
  /** For each answer that waits on a socket, the function that releases it. */
  readonly #bySocket = new WeakMap<Socket, Set<() => void>>();

  constructor(maxAnswerBytes: number) {
    this.#maxAnswerBytes = maxAnswerBytes;
  }

  /**
   * Runs a query or a mutation. A query is cancelled when the budget of its address is used up, because its answer would be
   * dropped.
   * @throws ClientError SERVICE_UNAVAILABLE if there is no space for its answer, or COST_LIMIT_EXCEEDED if a mutation has run
   * and its answer is dropped.
   */
  run(operation: PreparedOperation, call: RunningCall, socket: Socket): ReservedAnswer | Promise<ReservedAnswer> {
    const { address } = call;
    // There must be space for the longest answer: an answer that is dropped later would be wasted work.
    if (this.#held.of(address) > 0 && !this.#fits(this.#maxAnswerBytes, address)) throw tooManyUnread();
    const executing = operation.execute();
    if (!(executing instanceof Promise)) return this.#reserve(executing, operation.type, address, socket);
    if (operation.type === 'query') this.#queries.add(call);
    return executing
      .finally(() => this.#queries.delete(call))
      .then((answer) => this.#reserve(answer, operation.type, address, socket));
  }

  /**
   * The budget is checked again, because many operations may run at the same time, and many answers may be ready in one
   * turn of the event loop.
   */
  #reserve(answer: Answer, type: PreparedOperation['type'], address: string, socket: Socket): ReservedAnswer {
    const { length = 0 } = answer;
    if (length <= maxShortAnswer) return answer;
    const bytes = bytesPerCharacter * length;
    if (this.#fits(bytes, address)) {
      const release = this.reserveBytes(socket, address, bytes);
      // From then on the bytes of the written answer are counted instead of the estimate.
      const replace = () => {
        release();
        if (this.#fits(this.#maxAnswerBytes, address)) return;
        for (const query of this.#queries) if (query.address === address) query.cancellation.cancel(tooManyUnread());
      };
      return { ...answer, release: replace };
    }
    if (type !== 'mutation') throw tooManyUnread();
    throw new ClientError('COST_LIMIT_EXCEEDED', `${unread} The mutation has run, and its answer is dropped.`);
  }

  /** Counts an answer until the function that it returns is called, or the socket is closed. */
  reserveBytes(socket: Socket, address: string, bytes: number): () => void {
    if (socket.destroyed) return () => {};
    const ofSocket = this.#bySocket.get(socket) ?? this.#watch(socket);
    const release = () => {
      if (ofSocket.delete(release)) this.#held.add(address, -bytes);
    };
    ofSocket.add(release);
    this.#held.add(address, bytes);
    return release;
  }

  /** Whether an answer of this number of bytes fits in the budgets of its address and of the process. */
  #fits(bytes: number, address: string): boolean {
    const ofAddress = this.#held.of(address);
    // Unread answers of other addresses never prevent a short answer.
    if (ofAddress === 0 && bytes <= maxShortAnswer) return true;
    const fitsAddress = ofAddress === 0 || ofAddress + bytes < perAddress * this.#maxAnswerBytes;
    return fitsAddress && this.#held.total + bytes < perProcess * this.#maxAnswerBytes;
  }

  /** The responses that wait after an unread one (pipelining) do not notice that their socket is closed. */
  #watch(socket: Socket): Set<() => void> {
    const ofSocket = new Set<() => void>();
    this.#bySocket.set(socket, ofSocket);
    socket.once('close', () => {
      for (const release of ofSocket) release();
    });
    return ofSocket;
  }
}

const unread = 'Too many bytes of answers have not been read yet.';

function tooManyUnread(): ClientError {
  return new ClientError('SERVICE_UNAVAILABLE', unread, { retryAfterMs: 1_000 });
}
