import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** A process of its own that answers each order once. */
export class Worker<Order extends object, Reply> {
  readonly #process: ChildProcess;
  readonly #ended: Promise<never>;

  constructor(file: string) {
    this.#process = fork(new URL(file, import.meta.url));
    this.#ended = once(this.#process, 'exit').then(([status]) => {
      throw new Error(`a process of the bench ended with ${status}`);
    });
    // Of one that was told to stop.
    this.#ended.catch(() => {});
  }

  async order(order: Order): Promise<Reply> {
    const answered = once(this.#process, 'message');
    this.#process.send(order);
    const [reply] = await Promise.race([answered, this.#ended]);
    return reply as Reply;
  }

  stop(): void {
    this.#process.disconnect();
  }
}

/** In such a process. */
export function obey<Order, Reply>(work: (order: Order) => Reply | Promise<Reply>): void {
  process.on('message', async (order: Order) => process.send?.(await work(order)));
  process.once('disconnect', () => process.exit());
}
