import { setTimeout as wait } from 'node:timers/promises';
import type { FaultProxy } from '../fault-proxy.ts';
import type { ChaosCluster } from './chaos-cluster.ts';

interface ChaosWorld {
  cluster: ChaosCluster;
  /** Between each reader and the load balancer. */
  readers: readonly FaultProxy[];
  random: () => number;
}

type Step = (world: ChaosWorld) => void | Promise<void>;

/** A fault, and its end: after a step every part runs again. */
export const steps: Record<string, Step> = {
  'a node is killed': ({ cluster, random }) => cluster.restartNode(pick(cluster.nodes, random), 'SIGKILL'),
  'a node is restarted': ({ cluster, random }) => cluster.restartNode(pick(cluster.nodes, random), 'SIGTERM'),
  'PostgreSQL crashes': ({ cluster }) => cluster.crashPostgres(),
  'backends are terminated': ({ cluster, random }) => cluster.terminateBackends(random()),
  'the connections of a node to PostgreSQL are cut': ({ cluster, random }) =>
    pick(cluster.nodes, random).toDatabase.cut(),
  'the connections of a node to PostgreSQL hang': ({ cluster, random }) =>
    freeze(pick(cluster.nodes, random).toDatabase, 3_000 * random()),
  'connections of clients are cut': ({ readers, random }) => pick(readers, random).cut(),
  'connections of clients hang': ({ readers, random }) => freeze(pick(readers, random), 2_000 * random()),
  'Redis is killed': ({ cluster }) => cluster.restartRedis(),
  'Redis is flushed': ({ cluster }) => cluster.commandRedis(['FLUSHALL']),
  'subscribers of Redis are cut': ({ cluster }) => cluster.commandRedis(['CLIENT', 'KILL', 'TYPE', 'pubsub']),
};

export function pick<T>(items: readonly T[], random: () => number): T {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('There is nothing to pick from.');
  return item;
}

async function freeze(proxy: FaultProxy, ms: number): Promise<void> {
  proxy.freeze();
  await wait(ms);
  proxy.thaw();
}
