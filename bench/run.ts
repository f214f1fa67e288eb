import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/* npm run bench [-- NAME [ARGUMENT …]]. Without a name it lists the benchmarks and runs `import` and `data`. */

const folder = fileURLToPath(new URL('.', import.meta.url));
const names = readdirSync(folder)
  .filter((file) => file.endsWith('.ts') && file !== 'run.ts')
  .map((file) => file.slice(0, -'.ts'.length));
const defaults = ['import', 'data'];

const [name, ...args] = process.argv.slice(2);
if (name !== undefined && !names.includes(name)) {
  console.error(`There is no benchmark ${JSON.stringify(name)}. The benchmarks are ${names.join(', ')}.`);
  process.exitCode = 1;
} else {
  if (name === undefined) console.log(`Benchmarks: ${names.join(', ')}. Running ${defaults.join(' and ')}.\n`);
  for (const each of name === undefined ? defaults : [name]) process.exitCode ||= await run(each);
}

async function run(name: string): Promise<number> {
  const child = spawn(process.execPath, [`${folder}${name}.ts`, ...args], { stdio: 'inherit' });
  const [status] = await once(child, 'exit');
  return status ?? 1;
}
