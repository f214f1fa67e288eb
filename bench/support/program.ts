import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('../..', import.meta.url);
const { scripts } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
const words: string[] = scripts.start.split(' ');

/** The options of node in `npm start`. */
export const nodeOptions = words.filter((word) => word.startsWith('--'));

export const main = fileURLToPath(new URL('src/main.ts', root));

/** The arguments of node that `npm start` serves with. */
export const program = [...nodeOptions, main, 'serve'];
