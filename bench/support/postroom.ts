import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { childrenOf, cpuMicrosOf } from './processes.ts';
import { program } from './program.ts';
import { Server } from './server.ts';

const memoryDisk = '/dev/shm';
const pollMs = 50;
const settings = {
  RATE_LIMIT: '0',
  LIMIT_SOCKETS: '1000000',
  SIGN_IN_ATTEMPTS: '1000000',
  SLOW_OPERATION_MS: '0',
  LOG_LEVEL: 'info',
};

export interface PostroomOptions {
  workers?: number;
  /** Otherwise the database file is in memory if the system has such a folder, so that the disk does not affect the figures. */
  onDisk?: boolean;
}

/** The real program as one process or several, with a database in a file and without the limits of an address. */
export class Postroom {
  readonly #options: PostroomOptions;
  readonly #folder: string;
  #server: Server;

  private constructor(options: PostroomOptions, folder: string, server: Server) {
    this.#options = options;
    this.#folder = folder;
    this.#server = server;
  }

  static async start(options: PostroomOptions = {}): Promise<Postroom> {
    const parent = options.onDisk || !existsSync(memoryDisk) ? tmpdir() : memoryDisk;
    const folder = mkdtempSync(join(parent, 'postroom-bench-'));
    return new Postroom(options, folder, await startServer(options, folder, 0));
  }

  get port(): number {
    return this.#server.port;
  }

  /** The parent of the workers; without workers, the server. */
  get pid(): number {
    return this.#server.pid;
  }

  /** The processes that serve. */
  get workers(): number[] {
    return (this.#options.workers ?? 1) > 1 ? childrenOf(this.pid) : [this.pid];
  }

  /** The CPU time of each process that serves, in microseconds. */
  cpuMicros(): number[] {
    return this.workers.map(cpuMicrosOf);
  }

  async restart(): Promise<void> {
    const { port } = this;
    await this.#server.stop();
    this.#server = await startServer(this.#options, this.#folder, port);
  }

  /** Replaces the workers one after the other, as for an upgrade. */
  async replaceWorkers(): Promise<void> {
    const before = this.workers;
    process.kill(this.pid, 'SIGUSR2');
    while (this.workers.length > before.length || this.workers.some((pid) => before.includes(pid))) await wait(pollMs);
  }

  async stop(): Promise<void> {
    await this.#server.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function startServer({ workers = 1 }: PostroomOptions, folder: string, port: number): Promise<Server> {
  const database = { DATABASE_URL: `sqlite:${join(folder, 'postroom.db')}` };
  // The clients of one process have no other to which they could move meanwhile.
  const draining = workers === 1 ? { DRAIN_SECONDS: '1' } : {};
  const environment = { ...settings, ...draining, ...database, PORT: String(port), WORKERS: String(workers) };
  const several = workers > 1 ? { serves: 'all workers serve' } : {};
  // What the script reports would be read by the parent of the workers as a message of theirs.
  return Server.start({ command: program, environment, reportsUsage: false, ...several });
}
