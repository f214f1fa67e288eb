import { LRUCache } from 'lru-cache';
import type { Viewer } from './viewer.ts';

/** In characters of the credentials, with so many for each viewer beside: 10,000 viewers at most. */
const maxSize = 10_000_000;
const viewerSize = 1_000;
/** What another process ended is found so soon. */
const keptMs = 1_000;

/** Whom credentials were found to be a moment ago: who asks often is not looked up each time. */
export class ViewerCache {
  /** By the whole text, of which a map compares no part before all of its hash is equal. */
  readonly #viewers = new LRUCache<string, Viewer>({
    maxSize,
    sizeCalculation: (_, authorization) => authorization.length + viewerSize,
    ttl: keptMs,
    ttlResolution: 20,
  });
  #generation = 0;

  /** `verify` looks them up; what it refuses is not kept. */
  async find(authorization: string, verify: () => Promise<Viewer>): Promise<Viewer> {
    const known = this.#viewers.get(authorization);
    if (known && known.expiresAt > Date.now()) return known;
    const generation = this.#generation;
    const viewer = await verify();
    // What ended since it was looked up is not kept.
    if (generation === this.#generation) this.#viewers.set(authorization, viewer);
    return viewer;
  }

  /** Some have ended: everyone is looked up anew. */
  forget(): void {
    this.#generation += 1;
    this.#viewers.clear();
  }
}
