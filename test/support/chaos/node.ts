import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createFaultProxy, type FaultProxy } from '../clients/fault-proxy.ts';
import { launch, type PostroomProcess, type Settings } from '../server/postroom.ts';

const clockPreload = new URL('../server/wall-clock.ts', import.meta.url).pathname;
const nowhere = 'http://127.0.0.1:1';
const restartMs = 100;
const drainTimeoutMs = 20_000;

export interface NodeOptions {
  name: string;
  folder: string;
  databaseUrl: string;
  redisUrl: string | undefined;
  settings: Settings;
  /** The arguments that start the program. */
  program: string[];
}

/** The proxies between a node and what it talks to. */
export interface Links {
  clients: FaultProxy;
  database: FaultProxy;
  redis?: FaultProxy;
}

/** The real program in a process of its own, behind proxies. It is restarted whenever it has exited. */
export class ChaosNode {
  readonly name: string;
  readonly links: Links;
  readonly #options: NodeOptions;
  readonly #clock: string;
  #program: string[];
  #process: PostroomProcess | undefined;
  #isClosed = false;
  /** Why the latest start failed. */
  failure: unknown;

  private constructor(options: NodeOptions, links: Links) {
    this.name = options.name;
    this.#options = options;
    this.#program = options.program;
    this.links = links;
    this.#clock = join(options.folder, `${options.name}.clock`);
    writeFileSync(this.#clock, '0');
  }

  static async create(options: NodeOptions): Promise<ChaosNode> {
    const { databaseUrl, redisUrl } = options;
    const redis = redisUrl && { redis: await createFaultProxy(redisUrl) };
    const links = { clients: await createFaultProxy(nowhere), database: await createFaultProxy(databaseUrl), ...redis };
    const node = new ChaosNode(options, links);
    await node.start();
    return node;
  }

  /** Where clients reach it. */
  get graphqlUrl(): string {
    return `${this.links.clients.url.replace(/\/$/, '')}/graphql`;
  }

  get isUp(): boolean {
    return this.#process !== undefined;
  }

  /** The node itself, past its proxies. */
  get postroom(): PostroomProcess {
    if (!this.#process) throw new Error(`${this.name} does not run: ${this.failure}`);
    return this.#process;
  }

  /** Starts it, again and again while its database does not answer. */
  async start(): Promise<void> {
    while (!this.#isClosed) {
      try {
        this.#process = await launch(this.#settings, ['--import', clockPreload, ...this.#program]);
        this.failure = undefined;
        return this.links.clients.retarget(this.#process.url);
      } catch (error) {
        this.failure = error;
        await wait(restartMs);
      }
    }
  }

  async kill(): Promise<void> {
    const running = this.#take();
    await running?.kill();
  }

  /** Drains it as a load balancer expects. Returns its exit status, or undefined if it does not exit in time. */
  async drain(timeoutMs: number): Promise<number | null | undefined> {
    const running = this.#take();
    if (!running) return 0;
    running.process.kill('SIGTERM');
    const exited = once(running.process, 'exit').then(() => true);
    if (await Promise.race([exited, wait(timeoutMs, false, { ref: false })])) return running.process.exitCode;
    await running.kill();
    return undefined;
  }

  /** Drains it, and starts another version of the program in its place. */
  async replaceProgram(program: string[]): Promise<void> {
    this.#program = program;
    await this.drain(drainTimeoutMs);
    await this.start();
  }

  /** Moves its wall clock to this many milliseconds after the real time. */
  moveClock(offsetMs: number): void {
    writeFileSync(this.#clock, String(offsetMs));
    this.#process?.process.kill('SIGUSR2');
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.kill();
    for (const link of Object.values(this.links)) await link.close();
  }

  #take(): PostroomProcess | undefined {
    const running = this.#process;
    this.#process = undefined;
    return running;
  }

  get #settings(): Settings {
    const { database, redis } = this.links;
    const { settings } = this.#options;
    return {
      ...settings,
      DATABASE_URL: database.url,
      ...(redis && { REDIS_URL: redis.url }),
      WALL_CLOCK: this.#clock,
      DRAIN_SECONDS: '1',
    };
  }
}
