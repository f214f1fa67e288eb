import { type ChildProcess, fork } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import type { Order, Reply, Report, Seat } from './load.ts';

/** The load process as its owner sees it. */
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

  async connect(port: number, seats: Seat[]): Promise<void> {
    await this.#order({ type: 'connect', port, seats });
  }

  async count(step: number, lastNumber: number): Promise<void> {
    await this.#order({ type: 'count', step, lastNumber });
  }

  async report(): Promise<Report> {
    const reply = await this.#order({ type: 'report' });
    if (reply.type !== 'report') throw new Error(`a load process answers ${reply.type} instead of a report`);
    return reply;
  }

  async leave(): Promise<void> {
    await this.#order({ type: 'leave' });
  }

  /** When the next step was complete, in nanoseconds of the monotonic clock. */
  async step(signal?: AbortSignal): Promise<number> {
    const [at] = await once(this.#replies, 'step', { signal });
    return at;
  }

  stop(): void {
    this.#process.disconnect();
  }

  async #order(order: Order): Promise<Reply> {
    const answered = once(this.#replies, 'answer');
    this.#process.send(order);
    const [reply] = (await answered) as [Reply];
    if (reply.type === 'failed') throw new Error(`the load process failed: ${reply.reason}`);
    return reply;
  }
}
