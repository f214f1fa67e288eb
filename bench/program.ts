import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/* The program, as people run it. */

const root = new URL('..', import.meta.url);
const { scripts } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
const words: string[] = scripts.start.split(' ');

/** What `npm start` tells node. */
export const nodeOptions = words.filter((word) => word.startsWith('--'));

export const main = fileURLToPath(new URL('src/main.ts', root));

/** Node's arguments to serve. */
export const program = [...nodeOptions, main, 'serve'];
