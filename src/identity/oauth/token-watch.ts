import { forEachConcurrently } from '../../common/for-each-concurrently.ts';
import { codeOf } from '../../errors.ts';
import type { Issuer } from './issuer.ts';

const timerMs = 1_000;
/** The number of tokens that are checked at the same time, so that new clients need not wait. */
const maxChecks = 10;

interface WatchedToken {
  token: string;
  /** When it is checked again, by performance.now(). */
  dueAt: number;
  listeners: Set<() => void>;
}

/**
 * Checks the tokens of open sockets and streams again, because no issuer reports that it has revoked a token. A token is
 * checked once in an interval, whatever the number of its sockets.
 */
export class TokenWatch {
  readonly #intervalMs: number;
  readonly #check: (token: string) => Promise<unknown>;
  readonly #issuer: Issuer;
  readonly #watched = new Map<string, WatchedToken>();
  readonly #timer: NodeJS.Timeout;
  #isChecking = false;

  /** `check` calls `end`, or rejects with UNAUTHENTICATED, if the token is no longer valid. */
  constructor(intervalMs: number, check: (token: string) => Promise<unknown>, issuer: Issuer) {
    this.#intervalMs = intervalMs;
    this.#check = check;
    this.#issuer = issuer;
    this.#timer = setInterval(() => void this.#checkDue(), timerMs).unref();
  }

  /** `dueAt`: the time of the first check, if the token is not watched yet. Returns a function that removes the listener. */
  add(token: string, listener: () => void, dueAt = 0): () => void {
    const watched = this.#watched.get(token) ?? { token, dueAt, listeners: new Set() };
    this.#watched.set(token, watched);
    watched.listeners.add(listener);
    return () => {
      watched.listeners.delete(listener);
      if (watched.listeners.size === 0 && this.#watched.get(token) === watched) this.#watched.delete(token);
    };
  }

  /** Checks all tokens within a second. */
  checkAll(): void {
    for (const watched of this.#watched.values()) watched.dueAt = 0;
  }

  /** Calls the listeners of a token. */
  end(token: string): void {
    const watched = this.#watched.get(token);
    this.#watched.delete(token);
    for (const listener of watched?.listeners ?? []) listener();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #checkDue(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    const now = performance.now();
    const due = [...this.#watched.values()].filter(({ dueAt }) => dueAt <= now);
    await forEachConcurrently(due, maxChecks, async (watched) => {
      if (watched.listeners.size === 0) return;
      watched.dueAt = performance.now() + this.#intervalMs;
      try {
        await this.#check(watched.token);
      } catch (error) {
        this.#issuer.report(error);
        // Another failure is that of the issuer, and says nothing about the token.
        if (codeOf(error) === 'UNAUTHENTICATED') this.end(watched.token);
      }
    });
    this.#isChecking = false;
  }
}
