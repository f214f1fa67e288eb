import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/* npm run bench [-- name [argument …]]; without a name it lists the benches, and runs those of the data. */

const folder = fileURLToPath(new URL('.', import.meta.url));
const names = readdirSync(folder)
  .filter((file) => file.endsWith('.ts') && file !== 'run.ts')
  .map((file) => file.slice(0, -'.ts'.length));
const unnamed = ['import', 'data'];

const [name, ...args] = process.argv.slice(2);
if (name !== undefined && !names.includes(name)) {
  console.error(`there is no bench ${JSON.stringify(name)}; there are ${names.join(', ')}`);
  process.exitCode = 1;
} else {
  if (name === undefined) console.log(`benches: ${names.join(', ')}; now ${unnamed.join(' and ')}\n`);
  for (const each of name === undefined ? unnamed : [name]) process.exitCode ||= await run(each);
}

async function run(bench: string): Promise<number> {
  const child = spawn(process.execPath, [`${folder}${bench}.ts`, ...args], { stdio: 'inherit' });
  const [status] = await once(child, 'exit');
  return status ?? 1;
}
