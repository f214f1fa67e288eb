import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { program } from '../program.ts';
import { settingsOf } from './history.ts';

/** Postroom as people run it, on the database of a folder. */
export class Server {
  readonly url: string;
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess, url: string) {
    this.#process = process;
    this.url = url;
  }

  static async start(folder: string, environment: Record<string, string> = {}): Promise<Server> {
    const child = spawn(process.execPath, program, {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...settingsOf(folder), PORT: '0', RATE_LIMIT: '0', LOG_LEVEL: 'warn', ...environment },
    });
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    child.once('exit', (status) => reject(new Error(`the server ended with ${status}`)));
    createInterface(child.stdout).on('line', (line) => {
      const [, url] = / is at (http:\S+)/.exec(line) ?? [];
      if (url) resolve(url);
    });
    return new Server(child, await promise);
  }

  /** The data of a query. */
  // biome-ignore lint/suspicious/noExplicitAny: its shape is the query's.
  async ask(query: string, token?: string): Promise<any> {
    const response = await fetch(this.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify({ query }),
    });
    const { data, errors } = (await response.json()) as { data: unknown; errors?: unknown };
    if (errors) throw new Error(`${query} failed: ${JSON.stringify(errors)}`);
    return data;
  }

  /** What the process has used of the processors so far (Linux; in ticks of 10 ms). */
  cpuSeconds(): number {
    const fields = readFileSync(`/proc/${this.#process.pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / 100;
  }

  async stop(): Promise<void> {
    const exit = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    await exit;
  }
}
