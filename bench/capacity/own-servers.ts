import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPostgres } from '../../scripts/cluster/postgres.ts';
import { findPostgresPrograms } from '../../scripts/cluster/postgres-programs.ts';
import { Programs } from '../../scripts/cluster/program.ts';
import { findRedisProgram, startRedis } from '../../scripts/cluster/redis.ts';

export interface OwnServer {
  url: string;
  pid: number;
}

/** A PostgreSQL and a Redis of the benchmark, and a folder for their data and for databases of SQLite. */
export class OwnServers {
  readonly folder = mkdtempSync(join(tmpdir(), 'postroom-bench-servers-'));
  readonly #programs = new Programs();
  readonly #exit = () => {
    this.#programs.kill();
    this.#remove();
  };

  constructor() {
    // They must not outlive a benchmark that fails or is ended.
    process.once('exit', this.#exit);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  }

  async startPostgres(settings: string[] = []): Promise<OwnServer> {
    const binaries = findPostgresPrograms();
    if (binaries === undefined) throw new Error('PostgreSQL is not installed.');
    const { program, url } = await createPostgres(this.#programs, binaries, this.folder, settings);
    return { url, pid: program.process.pid ?? 0 };
  }

  async startRedis(): Promise<OwnServer> {
    const path = findRedisProgram();
    if (path === undefined) throw new Error('Redis is not installed.');
    const { program, url } = await startRedis(this.#programs, path, this.folder);
    return { url, pid: program.process.pid ?? 0 };
  }

  async stop(): Promise<void> {
    await this.#programs.stop();
    process.off('exit', this.#exit);
    this.#remove();
  }

  #remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
