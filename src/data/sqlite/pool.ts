import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

/**
 * A pool of connections. All connections are opened at the start: later there could be no free file descriptor, or
 * another file at the path.
 */
export class Pool {
  readonly #all: readonly Kysely<Tables>[];
  readonly #idle: Kysely<Tables>[];
  readonly #waiting: ((db: Kysely<Tables>) => void)[] = [];

  constructor(size: number, open: () => Kysely<Tables>) {
    this.#all = Array.from({ length: size }, open);
    this.#idle = [...this.#all];
  }

  async use<T>(work: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
    const db = this.#idle.pop() ?? (await new Promise<Kysely<Tables>>((lend) => this.#waiting.push(lend)));
    try {
      return await work(db);
    } finally {
      const next = this.#waiting.shift();
      if (next) next(db);
      else this.#idle.push(db);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((db) => db.destroy()));
  }
}
