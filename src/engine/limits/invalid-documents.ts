import { FixedWindow, type WindowOptions } from '../../common/fixed-window.ts';
import { ClientError, type ErrorCode } from '../../errors.ts';
import { type Caller, keyOf } from './rate.ts';

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
export class InvalidDocumentLimit {
  readonly #refused: FixedWindow;
  readonly #pauses = new FixedWindow({ limit: 0, windowSeconds: pauseMs / 1_000 });

  constructor({ windowSeconds }: WindowOptions) {
    this.#refused = new FixedWindow({ limit: maxWithoutPause, windowSeconds });
  }

  /** @throws ClientError RATE_LIMITED. */
  assertNotPaused(caller: Caller): void {
    const { isOver, resetMs } = this.#pauses.charge(keyOf(caller), 0);
    if (isOver) throw new ClientError('RATE_LIMITED', undefined, { retryAfterMs: resetMs });
  }

  /** Counts a document that was refused with `code`. */
  count(caller: Caller, code: ErrorCode | undefined): void {
    if (code === undefined || !faultsOfDocument.includes(code)) return;
    const key = keyOf(caller);
    if (this.#refused.charge(key).isOver) this.#pauses.charge(key);
  }
}
