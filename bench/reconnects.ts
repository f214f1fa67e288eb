import { parseArgs } from 'node:util';
import { cuts } from './reconnects/cuts.ts';
import { restart } from './reconnects/restart.ts';
import type { Run } from './reconnects/run.ts';
import { servers } from './reconnects/servers.ts';
import { printHeading } from './support/heading.ts';
import { installPackages } from './support/packages.ts';
import { selectRows } from './support/select-rows.ts';
import { formatTable } from './support/table.ts';

/* npm run bench -- reconnects [ROW …] [--clients N] [--seconds N] [--servers NAME,…] */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { clients: { type: 'string' }, seconds: { type: 'string' }, servers: { type: 'string' } },
});
const selected = selectRows({ cuts, restart }, positionals);
const run: Run = {
  servers: selectRows(servers, values.servers?.split(',') ?? []),
  ...(values.clients && { clients: Number(values.clients) }),
  ...(values.seconds && { seconds: Number(values.seconds) }),
};

installPackages();
printHeading('reconnects');
for (const measure of selected) console.log(formatTable(await measure(run)));
