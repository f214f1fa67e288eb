interface Rounds {
  rounds: number;
  /** Rounds whose samples are discarded, because V8 has not compiled the code yet. */
  warmUpRounds: number;
}

/**
 * Measures each item once per round, so that other load on the machine affects all items equally.
 * Returns the samples of each item, one per round.
 */
export async function measureInTurn<Item, Sample>(
  items: readonly Item[],
  { rounds, warmUpRounds }: Rounds,
  measure: (item: Item) => Promise<Sample>,
): Promise<Sample[][]> {
  const samples = items.map((): Sample[] => []);
  for (let round = -warmUpRounds; round < rounds; round += 1) {
    for (const [index, item] of items.entries()) {
      const sample = await measure(item);
      if (round >= 0) samples[index]?.push(sample);
    }
  }
  return samples;
}
