import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Config } from '../config/config.ts';
import { openLocalExchange } from '../live/bus/local.ts';
import { createLog, type Log, loggedNameOf } from '../log/log.ts';

/** A worker that ends by itself is started again after this pause, which doubles each time, up to the maximum. */
const minPauseMs = 100;
const maxPauseMs = 10_000;
/** After a worker that ran for so long the pause is short again. */
const stableMs = 30_000;

export function countWorkers({ workers }: Pick<Config, 'workers'>): number {
  return workers === 'auto' ? availableParallelism() : workers;
}

/**
 * Runs several servers as processes that share one port, and passes messages between them. It opens no database. Serves until it
 * receives SIGINT, SIGTERM or SIGHUP; SIGUSR2 replaces the workers one after the other. Returns 0, or the status of a worker
 * that could not start.
 */
export async function runWorkers(config: Config): Promise<number> {
  const log = createLog(config.logLevel, loggedNameOf(config));
  const folder = process.platform === 'win32' ? undefined : mkdtempSync(join(tmpdir(), 'postroom-'));
  const path = folder === undefined ? `\\\\.\\pipe\\postroom-${process.pid}` : join(folder, 'bus');
  const exchange = await openLocalExchange({ path });
  // The workers accept connections from one socket of the system: one that is open while a worker is replaced or killed goes to
  // another. If the parent gave them out, those that it has just given to a worker that was killed would hang.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  try {
    return await new Workers(countWorkers(config), path, log).run();
  } finally {
    exchange.close();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

class Workers {
  readonly #count: number;
  /** The path of their bus, which each receives as its first message. */
  readonly #path: string;
  readonly #log: Log;
  readonly #running = new Set<Worker>();
  /** Those that were told to stop. */
  readonly #stopping = new WeakSet<Worker>();
  readonly #allStopped = Promise.withResolvers<void>();
  #isStopping = false;
  #isReplacing = false;
  #pauseMs = minPauseMs;

  constructor(count: number, path: string, log: Log) {
    this.#count = count;
    this.#path = path;
    this.#log = log;
  }

  async run(): Promise<number> {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => this.#stop(signal));
    // One after the other, because the first one migrates the database.
    for (let index = 0; index < this.#count && !this.#isStopping; index += 1) {
      const status = await this.#start();
      if (status === undefined || this.#isStopping) continue;
      // The settings or the database are wrong, and the worker has said how.
      this.#stop('SIGTERM');
      await this.#allStopped.promise;
      return status;
    }
    process.on('SIGUSR2', () => void this.#replaceAll());
    if (!this.#isStopping) this.#log.info({ workers: this.#count }, 'all workers serve');
    await this.#allStopped.promise;
    return 0;
  }

  /** Resolves when a new worker serves, or with its status if it ends before. */
  async #start(): Promise<number | undefined> {
    const worker = cluster.fork();
    worker.send(this.#path);
    const startedAt = performance.now();
    this.#running.add(worker);
    // It rejects if the system has no process for it.
    const exited: Promise<[code: number | null, signal: string | null]> = once(worker, 'exit').then(
      ([code, signal]) => [code, signal],
      () => [null, null],
    );
    const serving = once(worker, 'message').then(() => undefined);
    const status = await Promise.race([serving, exited.then(([code]) => code ?? 1)]);
    void exited.then(([code, signal]) => {
      this.#running.delete(worker);
      if (this.#isStopping && this.#running.size === 0) this.#allStopped.resolve();
      if (this.#isStopping || this.#stopping.has(worker) || status !== undefined) return;
      if (performance.now() - startedAt >= stableMs) this.#pauseMs = minPauseMs;
      this.#log.error({ worker: worker.process.pid, code, signal }, 'a worker ended, and is started again');
      void this.#startAgain();
    });
    return status;
  }

  async #startAgain(): Promise<void> {
    let status: number | undefined;
    do {
      await wait(this.#pauseMs);
      this.#pauseMs = Math.min(2 * this.#pauseMs, maxPauseMs);
      status = this.#isStopping ? undefined : await this.#start();
      if (status !== undefined) this.#log.error({ status, pauseMs: this.#pauseMs }, 'a worker could not start');
    } while (status !== undefined);
  }

  /** Each worker stops after its successor serves. */
  async #replaceAll(): Promise<void> {
    if (this.#isReplacing) return;
    this.#isReplacing = true;
    let status: number | undefined;
    for (const worker of [...this.#running]) {
      if (this.#isStopping || status !== undefined) break;
      // One that has ended by itself was started again.
      if (!this.#running.has(worker)) continue;
      status = await this.#start();
      if (status !== undefined || !this.#running.has(worker)) continue;
      this.#stopping.add(worker);
      const exited = once(worker, 'exit');
      worker.process.kill('SIGTERM');
      await exited;
    }
    this.#isReplacing = false;
    if (this.#isStopping) return;
    if (status === undefined) this.#log.info({ workers: this.#running.size }, 'the workers were replaced');
    else this.#log.error({ status }, 'a worker could not start: the others are not replaced');
  }

  #stop(signal: NodeJS.Signals): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    for (const worker of this.#running) worker.process.kill(signal);
    if (this.#running.size === 0) this.#allStopped.resolve();
  }
}
