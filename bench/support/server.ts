import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Usage, UsageQuestion } from './report-usage.ts';

const reportUsage = new URL('./report-usage.ts', import.meta.url).href;

export interface ServerOptions {
  /** The program and its arguments. */
  command: string[];
  environment?: Record<string, string>;
  nodeOptions?: string[];
  /** A program that runs node in its own process id, and its arguments. */
  wrapper?: string[];
  /** Without it the process has the options of `npm start` and a script of one line, for the time of a start. */
  reportsUsage?: boolean;
  /** A part of the line of its log after which it serves; by default that line names its address. */
  serves?: string;
}

/** A server in its own process, which also reports its usage of the processors and of memory. */
export class Server {
  readonly port: number;
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess, port: number) {
    this.#process = process;
    this.port = port;
  }

  get pid(): number {
    return this.#process.pid ?? Number.NaN;
  }

  static async start(options: ServerOptions): Promise<Server> {
    const { command, environment = {}, nodeOptions = [], wrapper = [], reportsUsage = true, serves } = options;
    const preloads = reportsUsage ? ['--expose-gc', '--import', reportUsage] : [];
    const [file = '', ...args] = [...wrapper, process.execPath, ...nodeOptions, ...preloads, ...command];
    const child = spawn(file, args, {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: { PATH: process.env['PATH'], NODE_ENV: 'production', NODE_NO_WARNINGS: '1', ...environment },
    });
    const exited = once(child, 'exit').then(([status]) => {
      throw new Error(`${command.join(' ')} exited with status ${status}`);
    });
    const port = await Promise.race([readPort(child, serves), exited]);
    exited.catch(() => {});
    return new Server(child, port);
  }

  /** With `usage after gc`, the memory is measured after garbage collection. */
  async usage(question: UsageQuestion = 'usage'): Promise<Usage> {
    this.#process.send(question);
    const [usage] = await once(this.#process, 'message');
    return usage as Usage;
  }

  async stop(): Promise<void> {
    const exit = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    await exit;
  }
}

/** Postroom logs its address when it accepts requests; the other servers print it. What else they report is shown. */
function readPort({ stdout, stderr }: ChildProcess, serves?: string): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  let port: string | undefined;
  for (const output of [stdout, stderr]) {
    if (!output) continue;
    createInterface(output).on('line', (line) => {
      const [, found] = /http:[^\s"]+:(\d+)\/graphql/.exec(line) ?? [];
      port ??= found;
      if (port && (serves === undefined ? found : line.includes(serves))) resolve(Number(port));
      else if (output === stderr && !line.startsWith('{"level":30,')) process.stderr.write(`${line}\n`);
    });
  }
  return promise;
}
