import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { createClient } from 'redis';
import { findRedisProgram } from '../../../scripts/cluster/redis.ts';
import { findFreePort } from '../../../scripts/free-port.ts';

const program = findRedisProgram();
export const hasRedis = program !== undefined;

/** A Redis of the test alone, so that it can be stopped. */
export class RedisServer {
  readonly url: string;
  readonly #port: number;
  #process: ChildProcess | undefined;

  private constructor(port: number) {
    this.#port = port;
    this.url = `redis://127.0.0.1:${port}`;
  }

  static async launch(): Promise<RedisServer> {
    const server = new RedisServer(await findFreePort());
    await server.start();
    return server;
  }

  /** Resolves when it accepts connections. */
  async start(): Promise<void> {
    if (program === undefined) throw new Error('Redis is not installed.');
    const args = ['--port', String(this.#port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    const child = spawn(program, args, { cwd: tmpdir(), stdio: ['ignore', 'pipe', 'ignore'] });
    this.#process = child;
    const output: string[] = [];
    for await (const line of createInterface(child.stdout)) {
      output.push(line);
      // Its later output is discarded.
      if (line.includes('Ready to accept connections')) return void child.stdout.resume();
    }
    throw new Error(`Redis did not start:\n${output.join('\n')}`);
  }

  async stop(): Promise<void> {
    const child = this.#process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.#process?.kill(name);
  }

  /** Sends one command. */
  async send(...args: string[]): Promise<unknown> {
    const client = createClient({ url: this.url, socket: { reconnectStrategy: false } });
    client.on('error', () => {});
    await client.connect();
    try {
      return await client.sendCommand(args);
    } finally {
      client.destroy();
    }
  }
}
