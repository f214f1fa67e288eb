import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { createClient } from 'redis';
import { findFreePort, Programs } from '../../../scripts/cluster/program.ts';
import { type RoundRobinProxy, startProxy } from '../../../scripts/cluster/proxy.ts';
import { findRedisProgram, type Redis, startRedis } from '../../../scripts/cluster/redis.ts';
import { createFaultProxy, type FaultProxy } from '../fault-proxy.ts';
import { PostgresCluster } from '../postgres-cluster.ts';
import { launch, type PostroomProcess, type Settings } from '../postroom.ts';

interface ChaosNode {
  postroom: PostroomProcess;
  settings: Settings;
  /** Between the node and PostgreSQL. */
  toDatabase: FaultProxy;
}

/** Nodes, PostgreSQL and Redis of one test, with proxies that fail on demand between them. */
export class ChaosCluster {
  readonly postgres: PostgresCluster;
  readonly nodes: ChaosNode[] = [];
  readonly #programs = new Programs();
  readonly #folder = mkdtempSync(join(tmpdir(), 'postroom-chaos-'));
  #redis: Redis | undefined;
  #balancer: RoundRobinProxy | undefined;

  private constructor(postgres: PostgresCluster) {
    this.postgres = postgres;
  }

  static async start(nodeCount: number, withRedis: boolean): Promise<ChaosCluster> {
    // Commits must survive `pg_ctl stop -m immediate`; an operating system that keeps running does not need fsync.
    const cluster = new ChaosCluster(await PostgresCluster.start({ full_page_writes: 'on' }));
    try {
      await cluster.#open(nodeCount, withRedis);
      return cluster;
    } catch (error) {
      await cluster.close();
      throw error;
    }
  }

  /** The URL of the load balancer. */
  get url(): string {
    return this.#balancer?.url ?? '';
  }

  get redisUrl(): string | undefined {
    return this.#redis?.url;
  }

  async #open(nodeCount: number, withRedis: boolean): Promise<void> {
    const path = withRedis ? findRedisProgram() : undefined;
    if (path) this.#redis = await startRedis(this.#programs, path, this.#folder);
    const key = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    for (let index = 0; index < nodeCount; index += 1) {
      const toDatabase = await createFaultProxy(this.postgres.url('postgres'));
      const settings: Settings = {
        PORT: String(await findFreePort()),
        DATABASE_URL: toDatabase.url,
        SESSION_KEY: key,
        LOG_LEVEL: 'fatal',
        ...(this.#redis && { REDIS_URL: this.#redis.url }),
      };
      this.nodes.push({ postroom: await launch(settings), settings, toDatabase });
    }
    this.#balancer = await startProxy(this.nodes.map(({ postroom }) => postroom.url));
  }

  /** Ends a node, gracefully or not, and starts it again on the same port. */
  async restartNode(node: ChaosNode, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const ended = once(node.postroom.process, 'exit');
    node.postroom.process.kill(signal);
    await ended;
    node.postroom = await launch(node.settings);
  }

  crashPostgres(): void {
    this.postgres.stopServer('immediate');
    this.postgres.startServer();
  }

  /** Ends this share of the connections to the database. */
  async terminateBackends(share: number): Promise<void> {
    const client = new Client(this.postgres.url('postgres'));
    await client.connect();
    await client.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where backend_type = $1 and pid <> pg_backend_pid() and random() < $2',
      ['client backend', share],
    );
    await client.end();
  }

  async commandRedis(command: string[]): Promise<void> {
    if (!this.#redis) return;
    const client = createClient({ url: this.#redis.url });
    client.on('error', () => {});
    await client.connect();
    await client.sendCommand(command);
    client.destroy();
  }

  async restartRedis(): Promise<void> {
    const path = findRedisProgram();
    if (!this.#redis || !path) return;
    const port = Number(new URL(this.#redis.url).port);
    await this.#redis.program.stop('SIGKILL');
    this.#redis = await startRedis(this.#programs, path, this.#folder, port);
  }

  async close(): Promise<void> {
    await this.#balancer?.close();
    for (const { postroom } of this.nodes) if (postroom.process.exitCode === null) await postroom.kill();
    for (const { toDatabase } of this.nodes) await toDatabase.close();
    await this.#programs.stop();
    this.postgres.remove();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
