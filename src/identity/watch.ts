import { findApiKeys } from '../data/api-keys.ts';
import type { Db } from '../data/database.ts';
import { findUsers } from '../data/users.ts';
import { isKeyAlive } from './application.ts';
import { isSessionAlive } from './session.ts';
import type { Viewer } from './viewer.ts';

const everyMs = 1_000;
/** A timer of Node's goes no further; a later end is found by the looks. */
const maxTimeoutMs = 2 ** 31 - 1;

interface Watched {
  viewer: Viewer;
  end: () => void;
}

/**
 * Looks after the credentials of whoever is connected: they end at their time, with the account, with a revocation or a
 * new password, and with a change of role. One look a second for all, so that it holds whoever made the change, and where.
 */
export class CredentialWatch {
  readonly #db: Db;
  readonly #onError: (error: unknown) => void;
  readonly #watched = new Set<Watched>();
  readonly #timer: NodeJS.Timeout;

  constructor(db: Db, onError: (error: unknown) => void) {
    this.#db = db;
    this.#onError = onError;
    this.#timer = setInterval(() => this.look(), everyMs).unref();
  }

  /** Calls `end` once, when the credentials are no longer good; to the function that stops watching. */
  watch(viewer: Viewer | null, end: () => void): () => void {
    if (!viewer) return () => {};
    const watched: Watched = { viewer, end };
    this.#watched.add(watched);
    const left = viewer.expiresAt - Date.now();
    const expiry = left < maxTimeoutMs ? setTimeout(() => this.#end(watched), Math.max(0, left)).unref() : undefined;
    return () => {
      clearTimeout(expiry);
      this.#watched.delete(watched);
    };
  }

  /** Now, where something was changed here. */
  look(): void {
    if (this.#watched.size > 0) this.#look().catch(this.#onError);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    const watched = [...this.#watched];
    const [users, keys] = await Promise.all([this.#readUsers(watched), this.#readKeys(watched)]);
    for (const one of watched) {
      const { user, credential, expiresAt } = one.viewer;
      const now = users.get(user.id);
      const key = credential.kind === 'apiKey' ? keys.get(credential.id) : undefined;
      const isGood =
        now !== undefined &&
        expiresAt > Date.now() &&
        now.role === user.role &&
        isSessionAlive(one.viewer, now) &&
        (credential.kind !== 'apiKey' || (key !== undefined && isKeyAlive(key)));
      if (!isGood) this.#end(one);
    }
  }

  #end(one: Watched): void {
    if (this.#watched.delete(one)) one.end();
  }

  async #readUsers(watched: readonly Watched[]) {
    const ids = [...new Set(watched.map(({ viewer }) => viewer.user.id))];
    return new Map((await findUsers(this.#db, ids)).map((row) => [row.id, row]));
  }

  async #readKeys(watched: readonly Watched[]) {
    const ids = watched.flatMap(({ viewer: { credential } }) => (credential.kind === 'apiKey' ? [credential.id] : []));
    return new Map((await findApiKeys(this.#db, [...new Set(ids)])).map((row) => [row.id, row]));
  }
}
