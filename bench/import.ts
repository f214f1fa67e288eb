import { measureBeside } from './data/beside.ts';
import { printHead } from './data/head.ts';
import { importHistory, scratchFolder } from './data/history.ts';
import { spread } from './fan-out/statistics.ts';
import { formatTable } from './fan-out/table.ts';

/* npm run bench -- import [rounds] */

const rounds = Number(process.argv[2] ?? 3);

printHead('import');
const first = [];
const second = [];
for (let round = 0; round < rounds; round += 1) {
  const folder = scratchFolder();
  first.push(await importHistory(folder));
  second.push(await importHistory(folder));
}
const rows = Object.entries({ 'into an empty database': first, 'run again': second }).map(([run, figures]) => ({
  run,
  seconds: spread(figures.map(({ seconds }) => seconds)),
  'CPU seconds': spread(figures.map(({ cpuSeconds }) => cpuSeconds)),
  'records a second': spread(
    figures.map(({ seconds, records }) => records / seconds),
    0,
  ),
  'peak memory, MB': spread(
    figures.map(({ peakMegabytes }) => peakMegabytes),
    0,
  ),
  posts: figures[0]?.summary.find((row) => row.startsWith('posts'))?.slice('posts: '.length) ?? '',
}));
const about = `${first[0]?.records.toLocaleString('en-US')} records, packed, ${rounds} rounds, the start of the program included. Wanted: ≤ 10 s, ≤ 250 MB.`;
console.log(formatTable({ title: 'postroom import', about, rows }));
console.log(formatTable(await measureBeside()));
