import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import type { PartOverrides } from '../../../src/server.ts';
import type { DirectDatabase } from '../database/direct-postgres.ts';
import { openDirectly } from '../database/test-database.ts';
import { type Postroom, type Settings, startInProcess } from './postroom.ts';

/** One server for all tests of a file, with its own database file. */
export class SharedServer {
  readonly folder = mkdtempSync(join(tmpdir(), 'postroom-test-'));
  readonly databaseFile = join(this.folder, 'postroom.db');
  #postroom: Postroom | undefined;

  async start(settings: Settings, overrides?: PartOverrides): Promise<void> {
    this.#postroom = await startInProcess({ DATABASE_URL: `sqlite:${this.databaseFile}`, ...settings }, overrides);
  }

  async stop(): Promise<void> {
    await this.#postroom?.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  get postroom(): Postroom {
    if (!this.#postroom) throw new Error('The server starts before the first test, not before the file is read.');
    return this.#postroom;
  }
}

export function shareServer(settings: Settings = {}, overrides?: PartOverrides): SharedServer {
  const server = new SharedServer();
  beforeAll(() => server.start(settings, overrides));
  afterAll(() => server.stop());
  return server;
}

/** Opens the database file for `work`; other connections may stay open. */
export function withDatabase<T>(file: string, work: (database: DirectDatabase) => T): T {
  const database = openDirectly(file);
  try {
    return work(database);
  } finally {
    database.close();
  }
}

/** Holds the write lock of the database during `work`. */
export async function withDatabaseLocked<T>(file: string, work: () => Promise<T>): Promise<T> {
  const database = openDirectly(file);
  try {
    database.exec('begin immediate');
    return await work();
  } finally {
    database.close();
  }
}
