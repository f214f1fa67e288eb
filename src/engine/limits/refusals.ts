import { ClientError, type ErrorCode } from '../../errors.ts';
import type { Caller, RateOptions } from './rate.ts';

/** Of a window: who is at work on a document mistakes it now and then. */
const free = 10;
const pauseMs = 500;
/** What is wrong with a document itself. */
const counted: readonly ErrorCode[] = [
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'DOCUMENT_LIMIT_EXCEEDED',
  'DEPTH_LIMIT_EXCEEDED',
  'COST_LIMIT_EXCEEDED',
];

interface Refused {
  times: number;
  /** Of the last, by performance.now(). */
  at: number;
}

/**
 * A document that the server does not know takes a hundred times as long to look at as a known one to run. Whoever keeps
 * sending such as are refused has none of them looked at for a moment behind each, so that others do not wait for them.
 */
export class RefusalLimit {
  readonly #windowMs: number;
  /** Of the window that began with the first of them. */
  readonly #refused = new Map<string, Refused>();

  constructor({ windowSeconds }: RateOptions) {
    this.#windowMs = windowSeconds * 1_000;
  }

  /** @throws ClientError RATE_LIMITED. */
  assertMayAsk(caller: Caller): void {
    const refused = this.#refused.get(keyOf(caller));
    if (!refused || refused.times <= free) return;
    const left = refused.at + pauseMs - performance.now();
    if (left > 0) throw new ClientError('RATE_LIMITED', undefined, { retryAfterMs: Math.ceil(left) });
  }

  /** One was refused for `code`. */
  count(caller: Caller, code: ErrorCode | undefined): void {
    if (code === undefined || !counted.includes(code)) return;
    const key = keyOf(caller);
    const known = this.#refused.get(key);
    if (!known) setTimeout(() => this.#refused.delete(key), this.#windowMs).unref();
    this.#refused.set(key, { times: (known?.times ?? 0) + 1, at: performance.now() });
  }
}

/** What a proxy says of an address may read like anything. */
function keyOf({ viewer, address }: Caller): string {
  return viewer ? `user ${viewer.user.id}` : `address ${address}`;
}
