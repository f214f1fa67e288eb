import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Finished {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** The path of the repository's root, or of what stands at `path` in it. */
export function inRepository(path = ''): string {
  return fileURLToPath(new URL(`../${path}`, import.meta.url));
}

/** Runs one of the installed packages' commands at the root, with `input` as its standard input. */
export function runInstalled(name: string, args: string[], input = ''): Promise<Finished> {
  const child = spawn(inRepository(`node_modules/.bin/${name}`), args, { cwd: inRepository() });
  const finished: Finished = { status: null, stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (finished.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (finished.stderr += text));
  // A command that ends before it has read everything must show its own words, not EPIPE.
  child.stdin.on('error', () => undefined).end(input);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status) => resolve({ ...finished, status }));
  });
}

/** The TypeScript files in `folder` of `root`, as `src/data/posts.ts`, in order. */
export function findTypeScriptFiles(folder: string, root = inRepository()): string[] {
  return globSync(`${folder}/**/*.ts`, { cwd: root })
    .map((file) => file.split(sep).join('/'))
    .sort();
}
