import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** A process of the benchmark that answers one command at a time. It has its own CPU time, apart from the server's. */
export class Worker<Command extends object, Reply> {
  readonly #process: ChildProcess;
  readonly #exited: Promise<never>;

  constructor(file: URL) {
    this.#process = fork(file);
    this.#exited = once(this.#process, 'exit').then(([status]) => {
      throw new Error(`${file.pathname} exited with status ${status}`);
    });
    // A worker that was stopped also exits.
    this.#exited.catch(() => {});
  }

  async send(command: Command): Promise<Reply> {
    const answered = once(this.#process, 'message');
    this.#process.send(command);
    const [reply] = await Promise.race([answered, this.#exited]);
    return reply as Reply;
  }

  stop(): void {
    this.#process.disconnect();
  }
}

/** Called in the process of a worker. */
export function answerCommands<Command, Reply>(handle: (command: Command) => Reply | Promise<Reply>): void {
  process.on('message', async (command: Command) => process.send?.(await handle(command)));
  process.once('disconnect', () => process.exit());
}
