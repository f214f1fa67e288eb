import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { HttpClient } from './http-client.ts';
import type { Latencies, NeighbourCommand } from './neighbour.ts';
import { Server, type ServerOptions } from './server.ts';
import { sleep, within } from './waiting.ts';
import { type SocketOptions, WebSocketClient } from './web-socket-client.ts';

const megabyte = 1_000_000;

export interface Measured {
  /** Growth of the resident memory at its peak. */
  growthMb: number;
  /** Growth of the JavaScript heap and buffers after garbage collection; undefined when it was not measured. */
  retainedMb: number | undefined;
  /** Infinity when the process no longer responds. */
  blockMs: number;
  neighbour: { quiet: Latencies; attacked: Latencies } | undefined;
  addresses: number;
}

interface MeasureOptions {
  /** The number of attacking addresses; the server may retain 64 MB for each. */
  addresses?: number;
  hasNeighbour?: boolean;
}

/** The servers, clients and files of one attack. `close` removes all of them. */
export class Sandbox {
  readonly folder = mkdtempSync(join(tmpdir(), 'postroom-attack-'));
  readonly servers: Server[] = [];
  readonly #cleanups: (() => unknown)[] = [];
  #folders = 0;
  measured: Measured | undefined;
  /** Rejects when a server exits unexpectedly. */
  readonly died: Promise<never>;
  readonly #reportDeath: (reason: unknown) => void;

  constructor() {
    const { promise, reject } = Promise.withResolvers<never>();
    this.died = promise;
    this.#reportDeath = reject;
    promise.catch(() => {});
  }

  newFolder(): string {
    this.#folders += 1;
    const folder = join(this.folder, String(this.#folders));
    mkdirSync(folder);
    return folder;
  }

  /** Starts a server and waits until it is ready. */
  async start(options: Partial<ServerOptions> = {}): Promise<Server> {
    return this.launch(options).ready();
  }

  /** Starts a server and does not wait until it is ready. */
  launch(options: Partial<ServerOptions> = {}): Server {
    const server = new Server({ folder: options.folder ?? this.newFolder(), ...options });
    this.servers.push(server);
    server.died.catch(this.#reportDeath);
    return server;
  }

  openClient(server: Server, address?: string, maxSockets?: number): HttpClient {
    const client = new HttpClient(server, address, maxSockets);
    this.onEnd(() => client.close());
    return client;
  }

  async socket(server: Server, options: SocketOptions = {}): Promise<WebSocketClient> {
    const socket = await WebSocketClient.open(server, options);
    this.onEnd(() => socket.disconnect());
    return socket;
  }

  /** Mounts a tmpfs file system of this size. @throws Error when this user is not allowed to mount it. */
  mountSmall(megabytes: number): string {
    const folder = this.newFolder();
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stdio: 'pipe' });
    this.onEnd(() => execFileSync('umount', ['-l', folder]));
    return folder;
  }

  /** `close` waits for a cleanup that returns a promise. */
  onEnd(cleanup: () => unknown): void {
    this.#cleanups.push(cleanup);
  }

  /** Measures the server while `work` attacks it. Retained memory is read while the attackers are still connected. */
  async measure<T>(server: Server, work: () => Promise<T>, options: MeasureOptions = {}): Promise<T> {
    const { addresses = 1, hasNeighbour = true } = options;
    const neighbour = hasNeighbour
      ? new Worker(new URL('./neighbour.ts', import.meta.url), { workerData: { port: server.port } })
      : undefined;
    if (neighbour) this.onEnd(() => void neighbour.terminate());
    try {
      if (neighbour) await sleep(500);
      // It collects garbage for about 100 ms, in which the neighbour waits.
      const before = await server.begin();
      if (neighbour) await sleep(100);
      if (neighbour) await send(neighbour, 'next');
      if (neighbour) await sleep(1_000);
      const quiet = neighbour && (await send(neighbour, 'next'));
      const result = await work();
      const attacked = neighbour && (await send(neighbour, 'stop'));
      const after = await server.report();
      this.measured = {
        growthMb: server.growthMb,
        retainedMb: before && after && (after.retainedBytes - before.retainedBytes) / megabyte,
        blockMs: after?.blockMs ?? Number.POSITIVE_INFINITY,
        neighbour: quiet && attacked && { quiet, attacked },
        addresses,
      };
      return result;
    } finally {
      await neighbour?.terminate();
    }
  }

  /** For an attack without its own measurement: the largest growth and the longest block of all servers. */
  async measureAll(): Promise<Measured> {
    const reports = await Promise.all(
      this.servers.filter(({ isRunning }) => isRunning).map((server) => server.report()),
    );
    return {
      growthMb: Math.max(0, ...this.servers.map(({ growthMb }) => growthMb)),
      retainedMb: undefined,
      blockMs: Math.max(0, ...reports.map((report) => report?.blockMs ?? Number.POSITIVE_INFINITY)),
      neighbour: undefined,
      addresses: 1,
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.kill()));
    for (const cleanup of this.#cleanups.reverse()) {
      try {
        await cleanup();
      } catch {
        // The remaining cleanups must still run.
      }
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

async function send(neighbour: Worker, command: NeighbourCommand): Promise<Latencies> {
  const answered = once(neighbour, 'message');
  neighbour.postMessage(command);
  const [latencies] = await within(5_000, 'the neighbour', answered);
  return latencies as Latencies;
}
