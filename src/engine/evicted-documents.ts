import { hash } from 'node:crypto';
import type { DocumentNode } from 'graphql';

/** Documents that have left the cache, as long as an operation that is running keeps them alive. */
export class EvictedDocuments {
  /** By a hash of the source, which may be long. */
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
