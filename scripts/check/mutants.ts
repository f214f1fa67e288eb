import { mutants, readMutated } from '../../simulation/mutants.ts';
import { inRepository } from '../repository.ts';

/** The mutants of the simulator that no longer fit the source. */
export async function checkMutants(root = inRepository(), all = mutants): Promise<string[]> {
  const read = await Promise.allSettled(all.map(async (mutant) => readMutated(root, mutant)));
  return read.flatMap((each) => (each.status === 'rejected' ? `simulation/mutants.ts: ${each.reason.message}` : []));
}
