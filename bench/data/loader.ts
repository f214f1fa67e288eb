import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Load, Order } from './load.ts';

/** Load from a process of its own, so that the server's figures are the server's. */
export class Loader {
  readonly #process: ChildProcess = fork(new URL('./load.ts', import.meta.url));
  readonly #exit = once(this.#process, 'exit');

  async run(order: Order): Promise<Load> {
    this.#process.send(order);
    const [load] = await Promise.race([once(this.#process, 'message'), this.#exit.then(() => [undefined])]);
    if (!load) throw new Error('the load process failed');
    return load as Load;
  }

  stop(): void {
    this.#process.disconnect();
  }
}
