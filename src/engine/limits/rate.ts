import type { Channel } from '../../common/channel.ts';
import { type Charged, FixedWindow, type WindowOptions } from '../../common/fixed-window.ts';
import type { Config } from '../../config/config.ts';
import { ClientError, type ErrorCode } from '../../errors.ts';
import type { SessionKeys } from '../../identity/session/session-key.ts';
import type { Viewer } from '../../identity/viewer.ts';
import type { Log } from '../../log/log.ts';
import type { RedisWindows, SharedCount } from './redis-windows.ts';

/** The caller's remaining rate, for the header fields of draft-ietf-httpapi-ratelimit-headers. */
export type Rate = Charged;

/** The caller is over the rate. */
export class RateLimited extends ClientError {
  readonly rate: Rate;

  constructor(rate: Rate) {
    super('RATE_LIMITED', undefined, { retryAfterMs: rate.resetMs });
    this.rate = rate;
  }
}

/** The caller whose rate an operation is charged to. */
export interface Caller {
  viewer: Viewer | null;
  /** The IP address, which is charged for callers without credentials. */
  address: string;
  /** The operation claims to resume: it is charged only when it opens a group, or is refused. Unset by the charge. */
  isResumed?: boolean;
}

/** Keeps users and addresses apart, because an address that a proxy reports may be any text. */
function keyOf({ viewer, address }: Caller): string {
  return viewer ? `user:${viewer.chargedId}` : `address:${address}`;
}

/** Limits the operations of a user or, without credentials, of an address. With `shared`, nodes share the limit; else workers do. */
export class RateLimit {
  /** The number of refusals. */
  refused = 0;
  readonly #isUnlimited: boolean;
  readonly #shared: RedisWindows | undefined;
  /** Two counters keep users and addresses apart without building a key string for each request. */
  readonly #users: FixedWindow;
  readonly #addresses: FixedWindow;

  /** `limit`: operations per window; 0 disables the limit. */
  constructor(options: WindowOptions, shared?: RedisWindows, parent?: Channel) {
    this.#isUnlimited = options.limit === 0;
    this.#shared = shared;
    this.#users = new FixedWindow(options, 'users', shared ? undefined : parent);
    this.#addresses = new FixedWindow(options, 'addresses', shared ? undefined : parent);
  }

  /**
   * Charges an operation to a caller. Undefined if there is no limit; a promise only if nodes share the limit.
   * @throws RateLimited.
   */
  charge(caller: Caller): Rate | undefined | Promise<Rate> {
    if (this.#isUnlimited) return undefined;
    // A caller that this node knows to be over the limit is refused without asking the shared counter.
    const rate = this.#charge(caller, 1);
    if (!this.#shared?.isUp) return rate;
    return this.#shared.charge(keyOf(caller)).then((count) => (count ? this.#adopt(caller, count) : rate));
  }

  /** Charges an operation that claims to resume, unless it was charged before. @throws RateLimited. */
  chargeResumed(caller: Caller): Rate | undefined | Promise<Rate> {
    if (!caller.isResumed) return undefined;
    caller.isResumed = false;
    return this.charge(caller);
  }

  /** @throws RateLimited if this node knows that the caller is already over the limit. */
  assertNotOver(caller: Caller): void {
    if (!this.#isUnlimited) this.#charge(caller, 0);
  }

  #charge({ viewer, address }: Caller, points: number): Rate {
    return this.#allow(viewer ? this.#users.charge(viewer.chargedId, points) : this.#addresses.charge(address, points));
  }

  /** Takes over the shared count, so that the limit continues with it if the shared counter fails. */
  #adopt({ viewer, address }: Caller, { charges, resetMs }: SharedCount): Rate {
    return this.#allow(
      viewer ? this.#users.adopt(viewer.chargedId, charges, resetMs) : this.#addresses.adopt(address, charges, resetMs),
    );
  }

  /** @throws RateLimited. */
  #allow(rate: Rate): Rate {
    if (!rate.isOver) return rate;
    this.refused += 1;
    throw new RateLimited(rate);
  }
}

/** The rate that all nodes count together; undefined if this node counts by itself. */
export async function openSharedRate(
  { redisUrl, rate: { limit, windowSeconds } }: Pick<Config, 'redisUrl' | 'rate'>,
  keys: SessionKeys,
  log: Pick<Log, 'warn'>,
): Promise<RedisWindows | undefined> {
  if (redisUrl === undefined || limit === 0) return undefined;
  // Redis's client is loaded only if it is used: it has more files than the rest of the server.
  const windows = await import('./redis-windows.ts');
  return windows.RedisWindows.open({
    url: redisUrl,
    windowSeconds,
    // All nodes have the same session key, and other installations have another.
    prefix: `postroom:rate:${keys.id}:`,
    log,
  });
}

/** Refusals per window without a pause: a developer who edits a document makes mistakes now and then. */
const maxWithoutPause = 10;
const pauseMs = 500;
/** The codes of errors in the document itself. */
const faultsOfDocument: readonly ErrorCode[] = [
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'DOCUMENT_LIMIT_EXCEEDED',
  'DEPTH_LIMIT_EXCEEDED',
  'COST_LIMIT_EXCEEDED',
];

/**
 * Checking a document that is not cached takes a hundred times as long as running a cached document. A caller that
 * keeps sending documents that are refused must therefore pause after each refusal, so that other callers do not wait:
 * five addresses that send their whole rate at once delay others by up to 0.2 s without the pause, 0.04 s with it.
 */
export function createInvalidDocumentLimit({ windowSeconds }: WindowOptions) {
  const refused = new FixedWindow({ limit: maxWithoutPause, windowSeconds });
  const pauses = new FixedWindow({ limit: 0, windowSeconds: pauseMs / 1_000 });
  return {
    /** @throws ClientError RATE_LIMITED. */
    assertNotPaused(caller: Caller) {
      const { isOver, resetMs } = pauses.charge(keyOf(caller), 0);
      if (isOver) throw new ClientError('RATE_LIMITED', undefined, { retryAfterMs: resetMs });
    },
    /** Counts a document that was refused with `code`. */
    count(caller: Caller, code: ErrorCode | undefined) {
      if (code === undefined || !faultsOfDocument.includes(code)) return;
      const key = keyOf(caller);
      if (refused.charge(key).isOver) pauses.charge(key);
    },
  };
}
