import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';
import type { Direction, FaultProxy } from '../clients/fault-proxy.ts';
import { query } from '../database/postgres-query.ts';
import type { Chooser } from './chooser.ts';
import type { Deployment } from './deployment.ts';
import type { Journal } from './journal.ts';
import type { ChaosNode } from './node.ts';
import type { Writers } from './writers.ts';

/** What faults act on. */
export interface Scene {
  deployment: Deployment;
  writers: Writers;
  choose: Chooser;
  journal: Journal;
}

/** A fault of one part. A part has one fault at a time. */
export interface Fault {
  part: string;
  begin: () => Promise<unknown>;
  /** Repairs the part, some steps later. */
  end?: () => Promise<unknown>;
}

interface FaultKind {
  /** How often it is chosen, relative to the others. */
  weight: number;
  /** Returns undefined if the deployment has no such part. */
  create: (scene: Scene) => Fault | undefined;
}

const drainTimeoutMs = 30_000;
const maxSkewMs = 2_000;
const directions: readonly Direction[][] = [['up'], ['down'], ['up', 'down']];

/** Takes connections of clients, of the database or of Redis at random. */
function chooseLink({ deployment, choose }: Scene): { part: string; link: FaultProxy } {
  const node = choose.oneOf(deployment.nodes);
  const [name, link] = choose.oneOf(Object.entries(node.links) as [string, FaultProxy][]);
  return { part: `${name} of ${node.name}`, link };
}

/** A fault that is over at once. */
function once(part: string, begin: () => Promise<unknown>): Fault {
  return { part, begin };
}

function terminate({ deployment, choose }: Scene, name: string): Fault {
  const sql = `select pg_terminate_backend(pid) from (select pid from pg_stat_activity
    where application_name = $1 order by random() limit $2) as chosen`;
  const count = 1 + choose.below(8);
  return once('backends', () => query(deployment.databaseUrl, sql, [name, count]));
}

function onNode({ deployment, choose }: Scene, begin: (node: ChaosNode) => Promise<unknown>): Fault {
  const node = choose.oneOf(deployment.nodes);
  return once(node.name, () => begin(node));
}

/** The kinds of faults, by name. */
export const faults: Record<string, FaultKind> = {
  nothing: { weight: 30, create: () => once('nothing', async () => {}) },
  cut: {
    weight: 10,
    create: (scene) => {
      const { part, link } = chooseLink(scene);
      return once(part, async () => link.cut());
    },
  },
  'half-open': {
    weight: 8,
    create: (scene) => {
      const { part, link } = chooseLink(scene);
      const frozen = scene.choose.oneOf(directions);
      const isCut = scene.choose.chance(0.5);
      return {
        part,
        begin: async () => link.freeze(...frozen),
        end: async () => {
          if (isCut) link.cut();
          link.thaw();
        },
      };
    },
  },
  delay: {
    weight: 6,
    create: (scene) => {
      const { part, link } = chooseLink(scene);
      const ms = 1 + scene.choose.below(100);
      return { part, begin: async () => link.delay(ms), end: async () => link.delay(0) };
    },
  },
  'backends terminated': { weight: 8, create: (scene) => terminate(scene, 'postroom') },
  'bus backends terminated': { weight: 4, create: (scene) => terminate(scene, 'postroom bus') },
  'node killed while it writes': {
    weight: 0.8,
    create: (scene) =>
      onNode(scene, async (node) => {
        void scene.writers.burst(node, 10);
        await wait(scene.choose.below(30));
        await node.kill();
        await node.start();
      }),
  },
  'node drained': {
    weight: 0.4,
    create: (scene) =>
      onNode(scene, async (node) => {
        const status = await node.drain(drainTimeoutMs);
        if (status !== 0) scene.journal.violate(`${node.name} exited with ${status} after SIGTERM`);
        await node.start();
      }),
  },
  'clock moved': {
    weight: 3,
    create: ({ deployment, choose }) => {
      const node = choose.oneOf(deployment.nodes);
      const offset = choose.below(2 * maxSkewMs + 1) - maxSkewMs;
      return once('clock', async () => node.moveClock(offset));
    },
  },
  'PostgreSQL crashed': {
    weight: 0.6,
    create: ({ deployment: { postgres } }) => ({
      part: 'PostgreSQL',
      begin: () => postgres.stopServer('immediate'),
      end: () => postgres.startServer(),
    }),
  },
  'long snapshot': {
    weight: 2,
    create: ({ deployment }) => {
      const client = new Client({ connectionString: deployment.databaseUrl });
      client.on('error', () => {});
      return {
        part: 'snapshot',
        async begin() {
          await client.connect();
          await client.query('begin isolation level repeatable read');
          await client.query('select count(*) from rooms');
        },
        end: () => client.end(),
      };
    },
  },
  'column added': {
    weight: 1,
    create: ({ deployment }) => {
      const change = (sql: string) => query(deployment.databaseUrl, `set lock_timeout = '1s'; alter table ${sql}`);
      return {
        part: 'columns',
        begin: () => change('"posts" add column if not exists "later" text'),
        end: () => change('"posts" drop column if exists "later"'),
      };
    },
  },
  'pool exhausted': {
    weight: 3,
    create: (scene) => {
      const { deployment, choose, writers } = scene;
      const node = choose.oneOf(deployment.nodes);
      return {
        part: `database of ${node.name}`,
        async begin() {
          node.links.database.delay(30);
          void writers.burst(node, 60);
        },
        end: async () => node.links.database.delay(0),
      };
    },
  },
  /** Some have been committed, and the node has not received the answer. */
  'commits interrupted': {
    weight: 4,
    create: ({ deployment, choose, writers }) => {
      const node = choose.oneOf(deployment.nodes);
      const { database } = node.links;
      return once(`database of ${node.name}`, async () => {
        database.delay(10);
        void writers.burst(node, 10);
        await wait(choose.below(80));
        database.cut();
        database.delay(0);
      });
    },
  },
  'Redis killed': {
    weight: 1,
    create: ({ deployment: { redis } }) =>
      redis && { part: 'Redis', begin: () => redis.stop(), end: () => redis.start() },
  },
  'Redis hangs': {
    weight: 1,
    create: ({ deployment: { redis } }) =>
      redis && {
        part: 'Redis',
        begin: async () => redis.signal('SIGSTOP'),
        end: async () => redis.signal('SIGCONT'),
      },
  },
  'Redis flushed': {
    weight: 2,
    create: ({ deployment: { redis } }) => redis && once('Redis', () => redis.send('FLUSHALL')),
  },
  'subscribers of Redis cut off': {
    weight: 4,
    create: ({ deployment: { redis } }) => redis && once('Redis', () => redis.send('CLIENT', 'KILL', 'TYPE', 'pubsub')),
  },
};
