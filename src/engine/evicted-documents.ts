import { hash } from 'node:crypto';
import type { DocumentNode } from 'graphql';

/** Documents that were evicted from the cache, while a running operation still references them. */
export class EvictedDocuments {
  /** The key is a hash of the source, because the source may be long. */
  readonly #alive = new Map<string, WeakRef<DocumentNode>>();
  readonly #collected = new FinalizationRegistry<string>((key) => {
    if (!this.#alive.get(key)?.deref()) this.#alive.delete(key);
  });

  add(source: string, document: DocumentNode): void {
    const key = keyOf(source);
    this.#alive.set(key, new WeakRef(document));
    this.#collected.register(document, key);
  }

  find(source: string): DocumentNode | undefined {
    return this.#alive.size === 0 ? undefined : this.#alive.get(keyOf(source))?.deref();
  }
}

function keyOf(source: string): string {
  return hash('sha256', source, 'base64url');
}
