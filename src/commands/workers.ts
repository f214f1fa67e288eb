import cluster from 'node:cluster';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Channel } from '../common/channel.ts';
import type { Config } from '../config/config.ts';
import { openLocalExchange } from '../live/bus/local.ts';
import { createLog, type Log, loggedNameOf } from '../log/log.ts';
import { folderPrefix, openControl, socketPath } from './restart.ts';
import { SharedState } from './shared-state.ts';

/** A worker that ends by itself is started again after this pause, which doubles each time, up to the maximum. */
const minPauseMs = 100;
const maxPauseMs = 10_000;
/** After a worker that ran for so long the pause is short again. */
const stableMs = 30_000;

/**
 * Runs several servers as processes that share one port, passes messages between them, and keeps what they count together. It opens
 * no database. Serves until it receives SIGINT, SIGTERM or SIGHUP; SIGUSR2 replaces the workers one after the other. Returns 0, or
 * the status of a worker that could not start.
 */
export async function runWorkers(config: Config): Promise<number> {
  const log = createLog(config.logLevel, loggedNameOf(config));
  const folder = mkdtempSync(join(tmpdir(), `${folderPrefix}${process.pid}-`));
  const path = socketPath(folder, 'bus');
  // The workers accept connections from one socket of the system: one that is open while a worker is replaced or killed goes to
  // another. If the parent gave them out, those that it has just given to a worker that was killed would hang.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  const count = config.workers === 'auto' ? availableParallelism() : config.workers;
  const workers = new Workers(count, path, log);
  const opened = [await openLocalExchange({ path }), await openControl(folder, () => workers.replaceAll())];
  try {
    return await workers.run();
  } finally {
    for (const server of opened) server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

type Running = ReturnType<typeof startWorker>;

/** `path` is that of the bus. */
function startWorker(path: string, shared: SharedState) {
  const worker = cluster.fork();
  const channel = new Channel(worker);
  const leave = shared.add(channel);
  const { promise: ended, resolve: end } = Promise.withResolvers<{ code: number | null; [cause: string]: unknown }>();
  worker.on('exit', (code, signal) => end({ code, signal }));
  // The system has no process for it.
  worker.on('error', ({ message }) => worker.process.pid ?? end({ code: null, message }));
  void ended.then(leave);
  const { promise: serving, resolve: serve } = Promise.withResolvers<undefined>();
  Object.assign(channel.handlers, { path: () => path, serves: () => serve(undefined) });
  /** Undefined when it serves; its status if it ends before. */
  const status = Promise.race([serving, ended.then(({ code }) => code ?? 1)]);
  return { process: worker.process, status, ended, startedAt: performance.now() };
}

class Workers {
  readonly #log: Log;
  readonly #slots: Slot[];
  readonly #stopping = new AbortController();
  readonly #running = new Set<Running>();
  #replacing: Promise<string | undefined> | undefined;

  constructor(count: number, path: string, log: Log) {
    this.#log = log;
    const shared = new SharedState();
    const start = () => {
      const running = startWorker(path, shared);
      this.#running.add(running);
      void running.ended.then(() => this.#running.delete(running));
      return running;
    };
    this.#slots = Array.from({ length: count }, () => new Slot({ start, stopping: this.#stopping.signal, log }));
  }

  async run(): Promise<number> {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => this.#stop(signal));
    process.on('SIGUSR2', () => void this.replaceAll());
    const kept: Promise<void>[] = [];
    let status: number | undefined;
    // One after the other, because the first one migrates the database.
    for (const slot of this.#slots) {
      status ??= await slot.replace();
      // The settings or the database are wrong, and the worker has said how.
      if (status !== undefined) this.#stop('SIGTERM');
      kept.push(slot.keep());
    }
    if (!this.#stopping.signal.aborted) this.#log.info({ workers: kept.length }, 'all workers serve');
    await Promise.all(kept);
    await Promise.all(Array.from(this.#running, ({ ended }) => ended));
    return status ?? 0;
  }

  /** Each worker stops after its successor serves. Resolves with the reason if not all were replaced. */
  replaceAll(): Promise<string | undefined> {
    this.#replacing ??= this.#replaceAll().finally(() => {
      this.#replacing = undefined;
    });
    return this.#replacing;
  }

  async #replaceAll(): Promise<string | undefined> {
    let status: number | undefined;
    for (const slot of this.#slots) status ??= await slot.replace();
    if (this.#stopping.signal.aborted) return 'the server stops';
    if (status !== undefined) {
      this.#log.error({ status }, 'a worker could not start: the others are not replaced');
      return `a worker could not start (status ${status}): the others are not replaced`;
    }
    this.#log.info({ workers: this.#slots.length }, 'the workers were replaced');
    return undefined;
  }

  #stop(signal: NodeJS.Signals): void {
    if (this.#stopping.signal.aborted) return;
    this.#stopping.abort();
    for (const { process } of this.#running) process.kill(signal);
  }
}

/** Keeps one worker running: the current one. Every other was told to stop, or does not serve yet. */
class Slot {
  readonly #parts: { start: () => Running; stopping: AbortSignal; log: Log };
  #current: Running | undefined;

  constructor(parts: { start: () => Running; stopping: AbortSignal; log: Log }) {
    this.#parts = parts;
  }

  /** Starts a worker, and stops the current one when it serves. Resolves with its status if it could not start. */
  async replace(): Promise<number | undefined> {
    const { start, stopping } = this.#parts;
    if (stopping.aborted) return undefined;
    const next = start();
    const status = await next.status;
    if (status !== undefined) return stopping.aborted ? undefined : status;
    const previous = this.#current;
    this.#current = next;
    previous?.process.kill('SIGUSR2');
    await previous?.ended;
    return undefined;
  }

  /** Starts a worker whenever there is none, until the stop. */
  async keep(): Promise<void> {
    const { start, stopping, log } = this.#parts;
    for (let pauseMs = minPauseMs; !stopping.aborted; ) {
      this.#current ??= start();
      const current = this.#current;
      const end = await current.ended;
      if (stopping.aborted || this.#current !== current) continue;
      if (performance.now() - current.startedAt >= stableMs) pauseMs = minPauseMs;
      log.error({ worker: current.process.pid, ...end, pauseMs }, 'a worker ended, and is started again');
      this.#current = undefined;
      await wait(pauseMs, undefined, { signal: stopping }).catch(() => {});
      pauseMs = Math.min(2 * pauseMs, maxPauseMs);
    }
  }
}
