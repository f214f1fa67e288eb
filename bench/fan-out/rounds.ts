import { Audience, type AudienceOptions, type Cost } from './audience.ts';
import type { StartOptions } from './contestants.ts';

/** What all rows of a run have in common. */
export interface Run {
  rounds: number;
  start: StartOptions;
}

const deliveriesPerRound = 20_000;

/** All of them at the same time, while `work` lasts. */
export async function withAudiences<T>(
  options: readonly AudienceOptions[],
  { start }: Run,
  work: (audiences: readonly Audience[]) => Promise<T>,
): Promise<T> {
  const audiences: Audience[] = [];
  try {
    for (const each of options) audiences.push(await Audience.gather(each, start));
    return await work(audiences);
  } finally {
    await Promise.all(audiences.map((audience) => audience.stop()));
  }
}

/** One after the other, again and again, so that a busy moment of the machine strikes all: of each, its measurements. */
export async function alternate<T>(
  audiences: readonly Audience[],
  rounds: number,
  measure: (audience: Audience) => Promise<T>,
): Promise<T[][]> {
  const measured: T[][] = audiences.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, audience] of audiences.entries()) measured[index]?.push(await measure(audience));
  }
  return measured;
}

export function measureCosts(audiences: readonly Audience[], { rounds }: Run): Promise<Cost[][]> {
  return alternate(audiences, rounds, (audience) =>
    audience.measureCost(Math.max(1, Math.round(deliveriesPerRound / audience.size))),
  );
}

export function perDelivery(costs: readonly Cost[]): number[] {
  return costs.map(({ microsPerDelivery }) => microsPerDelivery);
}

export function perEvent(costs: readonly Cost[]): number[] {
  return costs.map(({ microsPerEvent }) => microsPerEvent);
}
