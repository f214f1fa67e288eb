import { measureInTurn } from '../../support/rounds.ts';
import { percentile } from '../../support/statistics.ts';
import type { TableWithTargets } from '../../support/table.ts';
import { allCandidates } from '../candidates.ts';
import { type Run, withScenarios } from '../rounds.ts';
import type { Latency } from '../scenario.ts';

const size = 1_000;
const eventsPerRound = 40;

export async function latency(run: Run): Promise<TableWithTargets> {
  const options = allCandidates.map((name) => ({ name, size }));
  const rows = await withScenarios(options, run, async (scenarios) => {
    const rounds = { rounds: run.rounds, warmUpRounds: 0 };
    const measured = await measureInTurn(scenarios, rounds, (scenario) => scenario.measureLatency(eventsPerRound));
    return scenarios.map(({ title }, index) => ({ server: title, ...describe((measured[index] ?? []).flat()) }));
  });
  return {
    title: 'Latency of the last of 1,000 subscribers',
    about: `Milliseconds from the request and from the answer of the mutation, between which the event is committed; ${eventsPerRound * run.rounds} events per server. A negative value means that the last subscriber received the event before the client received the answer.`,
    rows,
    targets: [],
  };
}

function describe(latencies: readonly Latency[]): Record<string, string> {
  const answers = latencies.map(({ fromResponse }) => fromResponse);
  const requests = latencies.map(({ fromRequest }) => fromRequest);
  return {
    'p50 from the answer': percentile(answers, 0.5).toFixed(1),
    'p99 from the answer': percentile(answers, 0.99).toFixed(1),
    'p50 from the request': percentile(requests, 0.5).toFixed(1),
    'p99 from the request': percentile(requests, 0.99).toFixed(1),
  };
}
