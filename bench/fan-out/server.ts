import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Usage } from './probe.ts';

const probe = new URL('./probe.ts', import.meta.url).href;

export interface ServerOptions {
  /** The program and its arguments. */
  command: string[];
  environment?: Record<string, string>;
  nodeOptions?: string[];
}

/** A contestant's process, with the probe in it. */
export class Server {
  readonly port: number;
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess, port: number) {
    this.#process = process;
    this.port = port;
  }

  static async start({ command, environment = {}, nodeOptions = [] }: ServerOptions): Promise<Server> {
    const options = ['--expose-gc', ...nodeOptions, '--import', probe];
    const child = spawn(process.execPath, [...options, ...command], {
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
      env: { PATH: process.env['PATH'], NODE_ENV: 'production', NODE_NO_WARNINGS: '1', ...environment },
    });
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    child.once('exit', (status) => reject(new Error(`${command.join(' ')} ended with ${status}`)));
    if (child.stdout) {
      createInterface(child.stdout).on('line', (line) => {
        const [, port] = / is at http:\S+:(\d+)\//.exec(line) ?? [];
        if (port) resolve(Number(port));
      });
    }
    return new Server(child, await promise);
  }

  async usage(when: 'usage' | 'usage after gc' = 'usage'): Promise<Usage> {
    this.#process.send(when);
    const [usage] = await once(this.#process, 'message');
    return usage as Usage;
  }

  async stop(): Promise<void> {
    const exit = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    await exit;
  }
}

export function serverFile(name: string): string {
  return fileURLToPath(new URL(`./servers/${name}.ts`, import.meta.url));
}
