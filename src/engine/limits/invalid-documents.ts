import { LRUCache } from 'lru-cache';
import type { WindowOptions } from '../../common/fixed-window.ts';
import { ClientError, type ErrorCode } from '../../errors.ts';
import { type Caller, keyOf } from './rate.ts';

/** Refusals per window without a pause: a developer who edits a document makes mistakes now and then. */
const maxWithoutPause = 10;
const pauseMs = 500;
const maxCallers = 10_000;
/** The codes of errors in the document itself. */
const faultsOfDocument: readonly ErrorCode[] = [
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'DOCUMENT_LIMIT_EXCEEDED',
  'DEPTH_LIMIT_EXCEEDED',
  'COST_LIMIT_EXCEEDED',
];

interface Refused {
  count: number;
  /** The time of the last refusal, by performance.now(). */
  lastAt: number;
}

/**
 * Checking a document that is not cached takes a hundred times as long as running a cached document. A caller that
 * keeps sending documents that are refused must therefore pause after each refusal, so that other callers do not wait:
 * five addresses that send their whole rate at once delay others by up to 0.2 s without the pause, 0.04 s with it.
 */
export class InvalidDocumentLimit {
  /** Each window begins with the caller's first refusal. */
  readonly #refused: LRUCache<string, Refused>;

  constructor({ windowSeconds }: WindowOptions) {
    this.#refused = new LRUCache({ max: maxCallers, ttl: windowSeconds * 1_000, noUpdateTTL: true });
  }

  /** @throws ClientError RATE_LIMITED. */
  assertNotPaused(caller: Caller): void {
    const refused = this.#refused.get(keyOf(caller));
    if (!refused || refused.count <= maxWithoutPause) return;
    const left = refused.lastAt + pauseMs - performance.now();
    if (left > 0) throw new ClientError('RATE_LIMITED', undefined, { retryAfterMs: Math.ceil(left) });
  }

  /** Counts a document that was refused with `code`. */
  count(caller: Caller, code: ErrorCode | undefined): void {
    if (code === undefined || !faultsOfDocument.includes(code)) return;
    const key = keyOf(caller);
    this.#refused.set(key, { count: (this.#refused.get(key)?.count ?? 0) + 1, lastAt: performance.now() });
  }
}
