import type { Latency } from '../audience.ts';
import { everyone } from '../contestants.ts';
import { alternate, type Run, withAudiences } from '../rounds.ts';
import { percentile } from '../statistics.ts';
import type { Found } from '../table.ts';

const size = 1_000;
const eventsPerRound = 40;

export async function latency(run: Run): Promise<Found> {
  const options = everyone.map((name) => ({ name, size }));
  const rows = await withAudiences(options, run, async (audiences) => {
    const measured = await alternate(audiences, run.rounds, (audience) => audience.measureLatency(eventsPerRound));
    return audiences.map(({ title }, index) => ({ contestant: title, ...describe((measured[index] ?? []).flat()) }));
  });
  return {
    title: 'From the commit to the last of 1,000 subscribers',
    about: `Milliseconds over ${eventsPerRound * run.rounds} events each: from the answer to the mutation, and from its request; the commit stands between them. Below 0: the last subscriber has it before the answer is read.`,
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
