import { type ChildProcess, fork } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import type { Command, Reply, Report, Subscription } from './load.ts';

/** Starts the load process and sends it commands. */
export class LoadProcess {
  readonly #process: ChildProcess;
  readonly #replies = new EventEmitter<{ answer: [Reply]; step: [number] }>();

  constructor() {
    this.#process = fork(new URL('./load.ts', import.meta.url));
    this.#process.on('message', (reply: Reply) => {
      if (reply.type === 'step') this.#replies.emit('step', reply.at);
      else this.#replies.emit('answer', reply);
    });
  }

  get pid(): number {
    return this.#process.pid ?? Number.NaN;
  }

  async connect(port: number, subscriptions: Subscription[]): Promise<void> {
    await this.#send({ type: 'connect', port, subscriptions });
  }

  async count(step: number, lastNumber: number): Promise<void> {
    await this.#send({ type: 'count', step, lastNumber });
  }

  async report(): Promise<Report> {
    const reply = await this.#send({ type: 'report' });
    if (reply.type !== 'report') throw new Error(`The load process answered ${reply.type} instead of a report.`);
    return reply;
  }

  async disconnect(): Promise<void> {
    await this.#send({ type: 'disconnect' });
  }

  /** Resolves with the time at which the next step was complete, in nanoseconds of the monotonic clock. */
  async step(signal?: AbortSignal): Promise<number> {
    const [at] = await once(this.#replies, 'step', { signal });
    return at;
  }

  stop(): void {
    this.#process.disconnect();
  }

  async #send(command: Command): Promise<Reply> {
    const answered = once(this.#replies, 'answer');
    this.#process.send(command);
    const [reply] = (await answered) as [Reply];
    if (reply.type === 'failed') throw new Error(`The load process failed: ${reply.reason}`);
    return reply;
  }
}
