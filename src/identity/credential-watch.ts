import { setImmediate } from 'node:timers/promises';
import { findApiKeys } from '../data/api-keys.ts';
import type { Db } from '../data/database.ts';
import { findAccounts } from '../data/users.ts';
import { isKeyAlive } from './application.ts';
import { isSessionAlive } from './session/session.ts';
import type { Viewer } from './viewer.ts';

const everyMs = 1_000;
/** The number of credentials that are checked in one turn of the event loop, so that checks do not delay events. */
const atOnce = 500;
/** The longest timer of Node; a later expiry is found by the periodic check. */
const maxTimeoutMs = 2 ** 31 - 1;

/** A change that ends credentials, as published after its commit. */
export type Ending =
  | { type: 'userDeleted'; userId: string }
  | { type: 'keyRevoked'; keyId: string }
  | { type: 'passwordChanged'; userId: string; sessionsFrom: number; keptSession: string | null };

export interface Watch {
  /** Resolves when the credentials have been checked for changes made before the watch began. */
  checked: Promise<void>;
  stop: () => void;
}

interface Watched {
  viewer: Viewer;
  end: () => void;
}

/** The watch of a client without credentials. */
const nothingToWatch: Watch = { checked: Promise.resolve(), stop: () => {} };

/**
 * Watches the credentials of connected clients. Credentials end when they expire, when the account is deleted, when
 * they are revoked, after a new password, and after a change of role. A change published in this process takes effect
 * at once, before any later message. A check of all credentials once a second finds all other changes, such as those of
 * other processes.
 */
export class CredentialWatch {
  readonly #db: Db;
  readonly #onError: (error: unknown) => void;
  readonly #watched = new Set<Watched>();
  readonly #timer: NodeJS.Timeout;

  constructor(db: Db, onError: (error: unknown) => void) {
    this.#db = db;
    this.#onError = onError;
    this.#timer = setInterval(() => this.#lookAtAll(), everyMs).unref();
  }

  /** Calls `end` once, when the credentials are no longer valid. */
  watch(viewer: Viewer | null, end: () => void): Watch {
    if (!viewer) return nothingToWatch;
    const watched: Watched = { viewer, end };
    this.#watched.add(watched);
    const left = viewer.expiresAt - Date.now();
    const expiry = left < maxTimeoutMs ? setTimeout(() => this.#end(watched), Math.max(0, left)).unref() : undefined;
    const stop = () => {
      clearTimeout(expiry);
      this.#watched.delete(watched);
    };
    // The credentials were read before this call. A change between the two was published before this watch existed.
    return { checked: this.#look([watched]), stop };
  }

  /** Ends all credentials that the change concerns, synchronously. */
  endBy(ending: Ending): void {
    for (const one of this.#watched) if (isEndedBy(ending, one.viewer)) this.#end(one);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #lookAtAll(): Promise<void> {
    const all = [...this.#watched];
    for (let from = 0; from < all.length; from += atOnce) {
      await this.#look(all.slice(from, from + atOnce));
      await setImmediate();
    }
  }

  /** After a failure, the next periodic check tries again. */
  async #look(watched: readonly Watched[]): Promise<void> {
    try {
      const [accounts, keys] = await Promise.all([this.#readAccounts(watched), this.#readKeys(watched)]);
      for (const one of watched) {
        const { user, credential, expiresAt } = one.viewer;
        const now = accounts.get(user.id);
        const key = credential.kind === 'apiKey' ? keys.get(credential.id) : undefined;
        const isGood =
          now !== undefined &&
          expiresAt > Date.now() &&
          now.role === user.role &&
          isSessionAlive(one.viewer, now) &&
          (credential.kind !== 'apiKey' || (key !== undefined && isKeyAlive(key)));
        if (!isGood) this.#end(one);
      }
    } catch (error) {
      this.#onError(error);
    }
  }

  #end(one: Watched): void {
    if (this.#watched.delete(one)) one.end();
  }

  async #readAccounts(watched: readonly Watched[]) {
    const ids = [...new Set(watched.map(({ viewer }) => viewer.user.id))];
    return new Map((await findAccounts(this.#db, ids)).map((row) => [row.id, row]));
  }

  async #readKeys(watched: readonly Watched[]) {
    const ids = watched.flatMap(({ viewer: { credential } }) => (credential.kind === 'apiKey' ? [credential.id] : []));
    return new Map((await findApiKeys(this.#db, [...new Set(ids)])).map((row) => [row.id, row]));
  }
}

function isEndedBy(ending: Ending, viewer: Viewer): boolean {
  const { user, credential } = viewer;
  switch (ending.type) {
    case 'userDeleted':
      return user.id === ending.userId;
    case 'keyRevoked':
      return credential.kind === 'apiKey' && credential.id === ending.keyId;
    case 'passwordChanged':
      return user.id === ending.userId && !isSessionAlive(viewer, { ...ending, deletedAt: null });
  }
}
