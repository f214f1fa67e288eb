import { expect, onTestFinished } from 'vitest';
import { createFaultProxy, type FaultProxy } from '../clients/fault-proxy.ts';
import { PostgresCluster } from '../database/postgres-cluster.ts';
import { query } from '../database/postgres-query.ts';
import { type Deployment, databaseName } from './deployment.ts';

/** A standby of the deployment's server, which replicates through a proxy. */
export class Standby {
  readonly #deployment: Deployment;
  readonly #postgres: PostgresCluster;
  readonly #link: FaultProxy;

  private constructor(deployment: Deployment, postgres: PostgresCluster, link: FaultProxy) {
    this.#deployment = deployment;
    this.#postgres = postgres;
    this.#link = link;
  }

  static async start(deployment: Deployment): Promise<Standby> {
    const link = await createFaultProxy(deployment.databaseUrl);
    onTestFinished(() => link.close());
    const postgres = await PostgresCluster.startStandby(Number(new URL(link.url).port));
    onTestFinished(() => postgres.remove());
    return new Standby(deployment, postgres, link);
  }

  get databaseUrl(): string {
    return this.#postgres.url(databaseName);
  }

  /** From now on the server acknowledges a commit only when the standby has it. */
  async replicateSynchronously(): Promise<void> {
    const { databaseUrl } = this.#deployment;
    await query(databaseUrl, `alter system set synchronous_standby_names = '*'`);
    await query(databaseUrl, 'select pg_reload_conf()');
    const isSynchronous = `select 1 from pg_stat_replication where sync_state = 'sync'`;
    await expect.poll(() => query(databaseUrl, isSynchronous)).toHaveLength(1);
  }

  /** From now on it receives nothing, as if it lagged. */
  lag(): void {
    this.#link.freeze();
  }

  /** Crashes the server, and makes the standby the server of all nodes. */
  async takeOver(): Promise<void> {
    const { postgres, nodes } = this.#deployment;
    await postgres.stopServer('immediate');
    this.#link.cut();
    await this.#postgres.promote();
    this.#deployment.postgres = this.#postgres;
    this.#deployment.databaseUrl = this.databaseUrl;
    for (const { links } of nodes) links.database.retarget(this.databaseUrl);
  }
}
