import { LRUCache } from 'lru-cache';
import { keyIdOf, type Viewer } from './viewer.ts';

/** In characters: the credentials' length, plus `viewerSize` per viewer. At most 10,000 viewers fit. */
const maxSize = 10_000_000;
const viewerSize = 1_000;
/** The maximum delay until credentials that another process revoked are refused here. */
const ttlMs = 1_000;

/** Caches the viewers of credentials, so that frequent requests do not read the database each time. */
export class ViewerCache {
  /** The key is the whole text: a map compares no part of a key unless the whole hash is equal. */
  readonly #viewers = new LRUCache<string, Viewer>({
    maxSize,
    sizeCalculation: (_, authorization) => authorization.length + viewerSize,
    ttl: ttlMs,
    ttlResolution: 20,
    dispose: (viewer, authorization) => {
      for (const id of idsOf(viewer)) {
        const texts = this.#texts.get(id);
        if (texts?.delete(authorization) && texts.size === 0) this.#texts.delete(id);
      }
    },
  });
  /** The cached texts of each user and of each API key, by id. */
  readonly #texts = new Map<string, Set<string>>();
  /** The verifications that are running. */
  readonly #pending = new Map<string, Promise<Viewer>>();
  #generation = 0;

  /** Calls `verify` if the viewer is not cached; concurrent requests share one call. A refusal is not cached. */
  async findOrVerify(authorization: string, verify: () => Promise<Viewer>): Promise<Viewer> {
    const cached = this.#viewers.get(authorization);
    if (cached && cached.expiresAt > Date.now()) return cached;
    const pending = this.#pending.get(authorization) ?? this.#verify(authorization, verify);
    this.#pending.set(authorization, pending);
    try {
      return await pending;
    } finally {
      if (this.#pending.get(authorization) === pending) this.#pending.delete(authorization);
    }
  }

  /** Called when credentials of a user, or an API key, have been revoked. */
  forget(id: string): void {
    this.#generation += 1;
    for (const authorization of [...(this.#texts.get(id) ?? [])]) this.#viewers.delete(authorization);
    this.#pending.clear();
  }

  /** Called when any credentials may have been revoked. */
  clear(): void {
    this.#generation += 1;
    this.#viewers.clear();
    this.#pending.clear();
  }

  async #verify(authorization: string, verify: () => Promise<Viewer>): Promise<Viewer> {
    const generation = this.#generation;
    const viewer = await verify();
    // Credentials may have been revoked during `verify`; then the result is not cached.
    if (generation !== this.#generation) return viewer;
    this.#viewers.set(authorization, viewer);
    for (const id of idsOf(viewer)) this.#texts.set(id, (this.#texts.get(id) ?? new Set()).add(authorization));
    return viewer;
  }
}

function idsOf({ user, credential }: Viewer): string[] {
  return [user.id, keyIdOf(credential) ?? []].flat();
}
