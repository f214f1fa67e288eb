import { expect, it } from 'vitest';
import { canDeploy, skipNote } from '../../support/chaos/deployment.ts';
import { runChaos } from '../../support/chaos/run.ts';

/* Nodes on PostgreSQL whose processes, connections, servers and clocks fail at random. */

const steps = Number(process.env['CHAOS_STEPS'] ?? 600);
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const timeout = 900_000 + steps * 400;

it.skipIf(!canDeploy).for([
  { nodes: 2, withRedis: true, bus: 'Redis' },
  { nodes: 3, withRedis: false, bus: 'PostgreSQL' },
  { nodes: 3, withRedis: true, bus: 'Redis' },
])(
  `clients of $nodes nodes with the bus of $bus receive every acknowledged event once, in order, through ${steps} random faults${skipNote}`,
  { timeout },
  async ({ nodes, withRedis }, { annotate }) => {
    await annotate(`seed ${seed}`);
    const summary = await runChaos({ seed, steps, nodes, withRedis });
    await annotate(summary);
    expect(summary).toMatch(new RegExp(`^${steps} steps`));
  },
);
