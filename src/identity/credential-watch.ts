import { setImmediate } from 'node:timers/promises';
import { chunksOf } from '../common/chunks.ts';
import { CoalescedWork } from '../common/coalesced-work.ts';
import type { Db } from '../data/database/database.ts';
import { findApiKeys } from '../data/domain/api-keys.ts';
import { findCredentialStates } from '../data/domain/users.ts';
import type { OAuth } from './oauth/oauth.ts';
import { findRevocation, isRevokedByGeneration, keyIdOf, type Viewer } from './viewer.ts';

const checkIntervalMs = 1_000;
/** The number of credentials that are checked in one turn of the event loop, so that checks do not delay events. */
const batchLength = 500;
/** The longest timer of Node. */
export const maxTimeoutMs = 2 ** 31 - 1;

/** A change that revokes credentials, as published after its commit. */
export type Revocation =
  | { type: 'userDeleted'; userId: string }
  | { type: 'keyRevoked'; keyId: string }
  | { type: 'passwordChanged'; userId: string; sessionsFrom: number };

export interface Watch {
  /** Resolves when the credentials have been checked for changes made before the watch began. */
  checked: Promise<void>;
  stop: () => void;
}

/** Watches the credentials of a viewer; calls `end` once, when they become invalid. */
export type WatchCredentials = (viewer: Viewer | null, end: () => void) => Watch;

interface CredentialWatchParts {
  db: Db;
  /** Undefined if no issuer is configured. */
  oauth: Pick<OAuth, 'checkOpen'> | undefined;
  /** Forgets the cached viewers of a user or of an API key, or all. */
  viewers: { forget(id: string): void; clear(): void };
  onError: (error: unknown) => void;
}

interface Watched {
  viewer: Viewer;
  onInvalid: () => void;
}

/** The watch of a client without credentials. */
const nothingToWatch: Watch = { checked: Promise.resolve(), stop: () => {} };

/**
 * Watches the credentials of connected clients. Credentials become invalid when they expire, when the account is
 * deleted, when they are revoked, after a new password, and after a change of role. A change published in this process
 * takes effect at once, before any later message. A check of all credentials once a second finds all other changes,
 * such as those of other processes. `OAuth` checks the tokens of an issuer.
 */
export class CredentialWatch {
  readonly #parts: CredentialWatchParts;
  readonly #watched = new Set<Watched>();
  readonly #timer: NodeJS.Timeout;
  readonly #checking = new CoalescedWork(() => this.#checkBatches());

  constructor(parts: CredentialWatchParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => {
      void this.#checking.request();
      this.#checkTokens();
    }, checkIntervalMs).unref();
  }

  /** Calls `onInvalid` once, when the credentials are no longer valid. */
  watch(viewer: Viewer | null, onInvalid: () => void): Watch {
    if (!viewer) return nothingToWatch;
    const watched: Watched = { viewer, onInvalid };
    this.#watched.add(watched);
    const left = viewer.expiresAt - Date.now();
    // A later expiry is found by the periodic check.
    const expiry = left < maxTimeoutMs ? setTimeout(() => this.#drop(watched), Math.max(0, left)).unref() : undefined;
    const stop = () => {
      clearTimeout(expiry);
      this.#watched.delete(watched);
    };
    // The credentials were read before this call. A change between the two was published before this watch existed.
    return { checked: this.#check([watched]), stop };
  }

  /** Drops all credentials that the change revokes, synchronously. */
  revoke(revocation: Revocation): void {
    this.#parts.viewers.forget('keyId' in revocation ? revocation.keyId : revocation.userId);
    for (const watched of this.#watched) if (isRevokedBy(revocation, watched.viewer)) this.#drop(watched);
  }

  /** Drops a token that its issuer does not accept. */
  refuseToken(token: string): void {
    for (const watched of this.#watched) if (tokenOf(watched) === token) this.#drop(watched);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Checks all credentials now, because any may have been revoked. Calls during a check share the next one. */
  checkAll(): Promise<void> {
    this.#parts.viewers.clear();
    return this.#checking.request();
  }

  #checkTokens(): void {
    const { oauth, onError } = this.#parts;
    if (!oauth) return;
    const tokens = [...this.#watched].flatMap((watched) => tokenOf(watched) ?? []);
    oauth.checkOpen(new Set(tokens)).catch(onError);
  }

  async #checkBatches(): Promise<void> {
    for (const batch of chunksOf([...this.#watched], batchLength)) {
      await this.#check(batch);
      await setImmediate();
    }
  }

  /** After a failure, the next periodic check tries again. */
  async #check(batch: readonly Watched[]): Promise<void> {
    try {
      const userIds = new Set(batch.map(({ viewer }) => viewer.user.id));
      const keyIds = new Set(batch.flatMap(({ viewer }) => keyIdOf(viewer.credential) ?? []));
      const [accountRows, keyRows] = await Promise.all([
        findCredentialStates(this.#parts.db, [...userIds]),
        findApiKeys(this.#parts.db, [...keyIds]),
      ]);
      const accounts = new Map(accountRows.map((row) => [row.id, row]));
      const keys = new Map(keyRows.map((row) => [row.id, row]));
      for (const watched of batch) {
        const { user, credential, expiresAt } = watched.viewer;
        const account = accounts.get(user.id);
        const isRevoked = findRevocation(credential, account, keys.get(keyIdOf(credential) ?? '')) !== undefined;
        if (isRevoked || account?.role !== user.role || expiresAt <= Date.now()) this.#drop(watched);
      }
    } catch (error) {
      this.#parts.onError(error);
    }
  }

  #drop(watched: Watched): void {
    if (!this.#watched.delete(watched)) return;
    // The viewer may have other rights when the client reconnects.
    this.#parts.viewers.forget(watched.viewer.user.id);
    watched.onInvalid();
  }
}

/** The token of an issuer. */
function tokenOf({ viewer: { credential } }: Watched): string | undefined {
  return credential.kind === 'oauth' ? credential.token : undefined;
}

function isRevokedBy(revocation: Revocation, { user, credential }: Viewer): boolean {
  switch (revocation.type) {
    case 'userDeleted':
      return user.id === revocation.userId;
    case 'keyRevoked':
      return keyIdOf(credential) === revocation.keyId;
    case 'passwordChanged':
      return user.id === revocation.userId && isRevokedByGeneration(credential, revocation);
  }
}
