import { measureInTurn } from '../support/rounds.ts';
import type { StartOptions } from './candidates.ts';
import { type Cost, Scenario, type ScenarioOptions } from './scenario.ts';

/** The options that all rows of a run share. */
export interface Run {
  rounds: number;
  start: StartOptions;
}

const deliveriesPerRound = 20_000;

/** Starts all scenarios, and stops them when `work` is done. */
export async function withScenarios<T>(
  options: readonly ScenarioOptions[],
  { start }: Run,
  work: (scenarios: readonly Scenario[]) => Promise<T>,
): Promise<T> {
  const scenarios: Scenario[] = [];
  try {
    for (const each of options) scenarios.push(await Scenario.start(each, start));
    return await work(scenarios);
  } finally {
    await Promise.all(scenarios.map((scenario) => scenario.stop()));
  }
}

/** Returns the costs of each scenario, one per round. */
export function measureCosts(options: readonly ScenarioOptions[], run: Run): Promise<Cost[][]> {
  return withScenarios(options, run, (scenarios) => measureCostsOf(scenarios, run));
}

export function measureCostsOf(scenarios: readonly Scenario[], { rounds }: Run): Promise<Cost[][]> {
  return measureInTurn(scenarios, { rounds, warmUpRounds: 0 }, (scenario) =>
    scenario.measureCost(Math.max(1, Math.round(deliveriesPerRound / scenario.size))),
  );
}

export function perDelivery(costs: readonly Cost[]): number[] {
  return costs.map(({ microsPerDelivery }) => microsPerDelivery);
}

export function perEvent(costs: readonly Cost[]): number[] {
  return costs.map(({ microsPerEvent }) => microsPerEvent);
}
