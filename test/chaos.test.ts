import { expect, it } from 'vitest';
import { hasRedis } from './support/bus-servers.ts';
import { runChaos } from './support/chaos/run.ts';
import { postgresPrograms } from './support/postgres-cluster.ts';

const steps = 250;
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const canRun = postgresPrograms !== undefined && hasRedis;

it.skipIf(!canRun)(
  `clients of two nodes receive every acknowledged event once, in order, through ${steps} random faults${canRun ? '' : ' (skipped, because initdb or redis-server is not installed)'}`,
  async ({ annotate }) => {
    await annotate(`seed ${seed}`);
    const summary = await runChaos({ seed, steps, nodes: 2, withRedis: true });
    await annotate(summary);
    expect(summary).toMatch(/^250 steps/);
  },
);
