import type { Outcome } from './world.ts';

const maxLines = 40;
/** What happens to everybody. */
const general = / of world$|was killed| runs|rewound|faults are over/;

/** The last events of a run that concern what its defect names: the client, the user, the room or the node. */
export function tellStory({ defect = '', story }: Outcome): string {
  const names = defect.match(/client \d+|node \d+|\b[ru]0[0-9a-z]{25}\b/g) ?? [];
  const told = story.filter((line) => general.test(line) || names.some((name) => line.includes(name)));
  return told.slice(-maxLines).join('\n');
}

/**
 * The smallest number of steps after which the faults may end so that the run still has a defect, by bisection. A shorter
 * run may have another defect than the whole run.
 */
export async function findShortest(
  run: (maxSteps: number) => Promise<Outcome>,
  maxSteps: number,
): Promise<{ steps: number; outcome: Outcome }> {
  let outcome = await run(maxSteps);
  let [passes, fails] = [0, Math.min(maxSteps, outcome.steps)];
  while (fails - passes > 1) {
    const steps = Math.floor((passes + fails) / 2);
    const shorter = await run(steps);
    if (shorter.defect === undefined) passes = steps;
    else [fails, outcome] = [steps, shorter];
  }
  return { steps: fails, outcome };
}
