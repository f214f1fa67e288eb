import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Finished {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** The absolute path of the repository, or of `path` in it. */
export function inRepository(path = ''): string {
  return fileURLToPath(new URL(`../${path}`, import.meta.url));
}

/** The programs of installed packages. On Windows the files of node_modules/.bin cannot be run by Node. */
const tools = {
  biome: '@biomejs/biome/bin/biome',
  knip: 'knip/bin/knip.js',
  tsc: 'typescript/bin/tsc',
};

export type Tool = keyof typeof tools;

/** Runs a program of an installed package in the root of the repository, with `input` as its standard input. */
export function runInstalled(tool: Tool, args: string[], input?: string): Promise<Finished> {
  return runNode([inRepository(`node_modules/${tools[tool]}`), ...args], input);
}

/** Runs node in the root of the repository, with `input` as its standard input. */
export function runNode(args: string[], input = ''): Promise<Finished> {
  const child = spawn(process.execPath, args, { cwd: inRepository() });
  const finished: Finished = { status: null, stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (finished.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (finished.stderr += text));
  // If a command exits before it has read its input, its own message is more useful than EPIPE.
  child.stdin.on('error', () => undefined).end(input);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status) => resolve({ ...finished, status }));
  });
}

/** The paths of the TypeScript files in `folder`, relative to `root` and sorted. */
export function findTypeScriptFiles(folder: string, root = inRepository()): string[] {
  return globSync(`${folder}/**/*.ts`, { cwd: root })
    .map((file) => file.split(sep).join('/'))
    .sort();
}
