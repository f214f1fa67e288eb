import { globSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { buildClientPackage } from './client-package.ts';
import { type Result, runClient } from './clients/client.ts';
import { inRepository } from './repository.ts';

/*
 * npm run clients -- [--restarts N] [NAME …]
 *
 * Builds the server and runs the clients of clients/ against it, each from its lock file. The npm scripts of a client:
 *
 * - `needs`: a command that fails if a program is missing that npm does not install. The client is skipped then.
 * - `test`: its checks, with POSTROOM_URL.
 * - `documents` and `test:trusted`: writes trusted-documents.json, and the checks of a server that runs only these.
 * - `follow`, `follow:…`: follows the room ROOM, with POSTROOM_URL and TOKEN. It prints {"ready":true}, then a line such
 *   as {"event":"PostCreated","title":"…"} for each event, through restarts of the server (10 by default), until
 *   SIGTERM.
 *
 * The exit status is 1 if a check fails, or if an event is lost, repeated or out of order.
 */

/** Most of the time, each waits until its client connects again. */
const clientsAtOnce = 8;

type Row = (string | number)[];

const { values, positionals } = parseArgs({
  options: { restarts: { type: 'string', default: '10' } },
  allowPositionals: true,
});
const restarts = Number(values.restarts);
if (!Number.isSafeInteger(restarts) || restarts < 1) {
  console.error(`--restarts must be a positive integer (got "${values.restarts}").`);
  process.exit(1);
}
const names = findNames(positionals);
await Promise.all([import('./build.ts'), buildClientPackage()]);
// What it has started is ended on `exit`, which a signal does not cause.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
const results: Result[] = [];
const queue = names.values();
await Promise.all(Array.from({ length: clientsAtOnce }, runNext));
results.sort((a, b) => a.name.localeCompare(b.name));
for (const { name, failures } of results) {
  for (const failure of failures) console.log(`\n${name}: ${failure.trimEnd().replaceAll('\n', '\n  ')}`);
}
console.log();
console.log(formatTable(results.flatMap(listRows)));
if (results.some(({ failures }) => failures.length > 0)) process.exitCode = 1;

function findNames(wanted: string[]): string[] {
  const all = globSync('clients/*/package.json', { cwd: inRepository() }).map((path) => basename(dirname(path)));
  const unknown = wanted.find((name) => !all.includes(name));
  if (unknown === undefined) return wanted.length > 0 ? wanted : all;
  console.error(`There is no client "${unknown}". The clients are ${all.join(', ')}.`);
  process.exit(1);
}

async function runNext(): Promise<void> {
  for (const name of queue) {
    const result = await runClient(name, restarts);
    results.push(result);
    console.log(`${describe(result).padEnd(7)}  ${name}`);
  }
}

function describe({ failures, missing }: Result): string {
  if (failures.length > 0) return 'FAILED';
  return missing === undefined ? 'ok' : 'skipped';
}

/** One row, and one for each further script with which the client follows a room. */
function listRows(result: Result): Row[] {
  const { name, checks, deliveries, missing, seconds } = result;
  const outcome = missing === undefined ? describe(result) : `skipped: ${missing}`;
  const rows = [...deliveries].map(([script, { events, lost, repeated }]) => [script, events, lost, repeated]);
  const [first = ['', '', '', ''], ...others] = rows;
  return [
    [name, checks, ...first, seconds.toFixed(0), outcome],
    ...others.map((other) => [name, '', ...other, '', '']),
  ];
}

function formatTable(rows: Row[]): string {
  const all: Row[] = [['client', 'checks', 'script', 'events', 'lost', 'repeated', 'seconds', 'outcome'], ...rows];
  const widths = all[0]?.map((_, column) => Math.max(...all.map((row) => String(row[column]).length))) ?? [];
  return all
    .map((row) =>
      row
        .map((cell, column) => String(cell).padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
