import { parseArgs } from 'node:util';
import { measureBlocks } from './scale/blocks.ts';
import { openDatabases, type Run } from './scale/databases.ts';
import { measureDeletions } from './scale/deletions.ts';
import { measureImports } from './scale/imports.ts';
import { measureSeeks } from './scale/seeks.ts';
import { measureStart } from './scale/start.ts';
import { printHeading } from './support/heading.ts';
import { formatTable, formatTargets, type TableWithTargets } from './support/table.ts';

/* npm run bench -- scale [ROW …] [--posts N] [--rounds N] [--folder FOLDER] */

/** In this order, because the last three change the large database. */
const rows: Record<string, (run: Run) => Promise<TableWithTargets>> = {
  start: measureStart,
  seeks: measureSeeks,
  blocks: measureBlocks,
  deletions: measureDeletions,
  import: measureImports,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    posts: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '5' },
    folder: { type: 'string' },
  },
});
const unknown = positionals.filter((name) => !Object.hasOwn(rows, name));
if (unknown.length > 0) {
  throw new Error(`There is no row ${unknown.join(', ')}. The rows are ${Object.keys(rows).join(', ')}.`);
}

printHeading('scale');
const posts = Number(values.posts);
await using databases = await openDatabases({ posts, folder: values.folder, server: process.env['POSTGRES_URL'] });
const chosen = Object.entries(rows).filter(([name]) => positionals.length === 0 || positionals.includes(name));
const targets = [];
for (const [, measure] of chosen) {
  const table = await measure({ ...databases, rounds: Number(values.rounds) });
  targets.push(...table.targets);
  console.log(formatTable(table));
}
console.log(formatTargets(targets));
