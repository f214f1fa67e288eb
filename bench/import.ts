import { measureConcurrentImport } from './data/concurrent-import.ts';
import { createTemporaryFolder, importHistory } from './data/history.ts';
import { printHeading } from './support/heading.ts';
import { spread } from './support/statistics.ts';
import { formatTable } from './support/table.ts';

/* npm run bench -- import [ROUNDS] */

const rounds = Number(process.argv[2] ?? 3);

printHeading('import');
const first = [];
const second = [];
for (let round = 0; round < rounds; round += 1) {
  const folder = createTemporaryFolder();
  first.push(await importHistory(folder));
  second.push(await importHistory(folder));
}
const rows = Object.entries({ 'into an empty database': first, 'the same again': second }).map(([run, figures]) => ({
  import: run,
  seconds: spread(figures.map(({ seconds }) => seconds)),
  'CPU seconds': spread(figures.map(({ cpuSeconds }) => cpuSeconds)),
  'records/s': spread(
    figures.map(({ seconds, records }) => records / seconds),
    0,
  ),
  'peak memory, MB': spread(
    figures.map(({ peakMegabytes }) => peakMegabytes),
    0,
  ),
  posts: figures[0]?.summary.find((row) => row.startsWith('posts'))?.slice('posts: '.length) ?? '',
}));
const about = `${first[0]?.records.toLocaleString('en-US')} compressed records, ${rounds} rounds. The time includes the start of the program. Goal: ≤ 10 s, ≤ 250 MB.`;
console.log(formatTable({ title: 'postroom import', about, rows }));
console.log(formatTable(await measureConcurrentImport()));
