import cluster from 'node:cluster';
import { once } from 'node:events';
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
 * Runs several servers as processes that share one port, and keeps what they share. It opens no database. Serves until SIGINT,
 * SIGTERM or SIGHUP; SIGUSR2 replaces the workers one after the other. Returns 0, or the status of a worker that could not start.
 */
export async function runWorkers(config: Config): Promise<number> {
  const log = createLog(config.logLevel, loggedNameOf(config));
  const folder = mkdtempSync(join(tmpdir(), `${folderPrefix}${process.pid}-`));
  const path = socketPath(folder, 'bus');
  // The workers accept connections from one socket of the system: one that is open while a worker is replaced or killed goes to
  // another. If the parent gave them out, those that it has just given to a worker that was killed would hang.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  const workers = new Workers(path, log);
  const opened = [await openLocalExchange({ path }), await openControl(folder, () => workers.replaceAll())];
  try {
    return await workers.run(config.workers === 'auto' ? availableParallelism() : config.workers);
  } finally {
    for (const server of opened) server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

type Running = ReturnType<Workers['start']>;

/** The place of one worker: the current one. Every other was told to stop, or is a successor that does not serve yet. */
interface Slot {
  current?: Running | undefined;
}

class Workers {
  /** Of the bus. */
  readonly #path: string;
  readonly #log: Log;
  readonly #slots: Slot[] = [];
  readonly #stopping = new AbortController();
  readonly #running = new Set<Running>();
  readonly #shared = new SharedState();
  #isReplacing = false;

  constructor(path: string, log: Log) {
    this.#path = path;
    this.#log = log;
  }

  async run(count: number): Promise<number> {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => this.#stop(signal));
    process.on('SIGUSR2', () => void this.replaceAll());
    const { signal: stopping } = this.#stopping;
    // One after the other, because the first one migrates the database.
    while (this.#slots.length < count && !stopping.aborted) {
      const slot: Slot = {};
      const status = await this.#replace(slot);
      // The settings or the database are wrong, and the worker has said how.
      if (status !== undefined) this.#stop('SIGTERM', status);
      this.#slots.push(slot);
    }
    if (!stopping.aborted) {
      this.#log.info({ workers: count }, 'all workers serve');
      await once(stopping, 'abort');
    }
    await Promise.all(Array.from(this.#running, ({ ended }) => ended));
    return stopping.reason;
  }

  /** Each worker stops after its successor serves. Resolves with the reason if not all were replaced. */
  async replaceAll(): Promise<string | undefined> {
    if (this.#isReplacing) return 'the workers are being replaced already';
    this.#isReplacing = true;
    let status: number | undefined;
    for (const slot of this.#slots) status ??= await this.#replace(slot);
    this.#isReplacing = false;
    if (this.#stopping.signal.aborted) return 'the server stops';
    const failure = 'a worker could not start: the others are not replaced';
    if (status === undefined) this.#log.info({ workers: this.#slots.length }, 'the workers were replaced');
    else this.#log.error({ status }, failure);
    return status === undefined ? undefined : failure;
  }

  /** Starts a worker, and stops the current one when it serves. Resolves with its status if it could not start. */
  async #replace(slot: Slot): Promise<number | undefined> {
    const { signal: stopping } = this.#stopping;
    if (stopping.aborted) return undefined;
    const next = this.start();
    const status = await next.status;
    if (status !== undefined) return stopping.aborted ? undefined : status;
    const previous = slot.current;
    previous?.process.kill('SIGUSR2');
    this.#keep(slot, next).catch((error) => {
      this.#log.error({ err: error }, 'a worker could not be started: the server stops');
      this.#stop('SIGTERM', 1);
    });
    // If the next worker started meanwhile, clients that move would wait longer for the processors.
    await previous?.ended;
    return undefined;
  }

  /** Starts a worker again when it has ended by itself, until the stop or until another one takes its place. */
  async #keep(slot: Slot, first: Running): Promise<void> {
    const { signal: stopping } = this.#stopping;
    let pauseMs = minPauseMs;
    for (let running = first; ; running = this.start()) {
      slot.current = running;
      const end = await running.ended;
      if (stopping.aborted || slot.current !== running) return;
      if (performance.now() - running.startedAt >= stableMs) pauseMs = minPauseMs;
      this.#log.error({ worker: running.process.pid, ...end, pauseMs }, 'a worker ended, and is started again');
      slot.current = undefined;
      await wait(pauseMs, undefined, { signal: stopping }).catch(() => {});
      if (stopping.aborted || slot.current) return;
      pauseMs = Math.min(2 * pauseMs, maxPauseMs);
    }
  }

  start() {
    const worker = cluster.fork();
    const channel = new Channel(worker);
    const leave = this.#shared.add(channel);
    const { promise: ended, resolve: end } = Promise.withResolvers<{ code: number | null; [cause: string]: unknown }>();
    worker.on('exit', (code, signal) => end({ code, signal }));
    // The system has no process for it.
    worker.on('error', ({ message }) => worker.process.pid ?? end({ code: null, message }));
    const { promise: serving, resolve: serve } = Promise.withResolvers<undefined>();
    Object.assign(channel.handlers, { path: () => this.#path, serves: () => serve(undefined) });
    /** Undefined when it serves; its status if it ends before. */
    const status = Promise.race([serving, ended.then(({ code }) => code || 1)]);
    const running = { process: worker.process, status, ended, startedAt: performance.now() };
    this.#running.add(running);
    void ended.then(() => {
      this.#running.delete(running);
      leave();
    });
    return running;
  }

  /** `status` is that of the program. */
  #stop(signal: NodeJS.Signals, status = 0): void {
    if (this.#stopping.signal.aborted) return;
    this.#stopping.abort(status);
    for (const { process } of this.#running) process.kill(signal);
  }
}
