import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Viewer } from './viewer.ts';

const maxViewers = 10_000;
/** What another process ended is found so soon. */
const keptMs = 1_000;

/** Whom credentials were found to be a moment ago: who asks often is not looked up each time. */
export class Verified {
  readonly #viewers = new LRUCache<string, Viewer>({ max: maxViewers, ttl: keptMs, ttlResolution: 20 });
  #generation = 0;

  /** `verify` looks them up; what it refuses is not kept. */
  async find(authorization: string, verify: () => Promise<Viewer>): Promise<Viewer> {
    // Nothing that is compared in part is a secret.
    const key = hash('sha256', authorization, 'base64');
    const known = this.#viewers.get(key);
    if (known && known.expiresAt > Date.now()) return known;
    const generation = this.#generation;
    const viewer = await verify();
    // What ended since it was looked up is not kept.
    if (generation === this.#generation) this.#viewers.set(key, viewer);
    return viewer;
  }

  /** Some have ended: everyone is looked up anew. */
  forget(): void {
    this.#generation += 1;
    this.#viewers.clear();
  }
}
