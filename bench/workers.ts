import { parseArgs } from 'node:util';
import { printHeading } from './support/heading.ts';
import { assertInstalled } from './support/installed.ts';
import { selectRows } from './support/select-rows.ts';
import { formatTable, formatTargets } from './support/table.ts';
import { bus } from './workers/rows/bus.ts';
import { deliveries } from './workers/rows/deliveries.ts';
import { delivery } from './workers/rows/delivery.ts';
import { kill } from './workers/rows/kill.ts';
import { memory } from './workers/rows/memory.ts';
import { posts } from './workers/rows/posts.ts';
import { queries } from './workers/rows/queries.ts';
import { defaultCounts, type Run } from './workers/run.ts';

/* npm run bench -- workers [ROW …] [--workers 1,N,…] [--rounds N] [--seconds N] [--clients N] */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    workers: { type: 'string', default: defaultCounts().join(',') },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    clients: { type: 'string' },
  },
});
const selected = selectRows({ deliveries, queries, posts, bus, delivery, kill, memory }, positionals);
const run: Run = {
  counts: values.workers.split(',').map(Number),
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  ...(values.clients && { clients: Number(values.clients) }),
};

assertInstalled('wrk');
printHeading('workers');
for (const measure of selected) {
  const table = await measure(run);
  console.log(formatTable(table));
  console.log(formatTargets(table.targets));
}
