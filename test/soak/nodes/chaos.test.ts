import { expect, it } from 'vitest';
import { canDeploy, skipNote } from '../../support/chaos/deployment.ts';
import { runChaos } from '../../support/chaos/run.ts';

const steps = 250;
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);

it.skipIf(!canDeploy)(
  `clients of two nodes receive every acknowledged event once, in order, through ${steps} random faults${skipNote}`,
  async ({ annotate }) => {
    await annotate(`seed ${seed}`);
    const summary = await runChaos({ seed, steps, nodes: 2, withRedis: true });
    await annotate(summary);
    expect(summary).toMatch(/^250 steps/);
  },
);
