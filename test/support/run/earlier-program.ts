import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inRepository } from '../../../scripts/repository.ts';

/** The last commit whose program knows five migrations. All later tables work with this program. */
const commit = '902dc0e';

export interface EarlierProgram {
  /** The arguments that start a server. */
  program: string[];
  remove(): void;
}

/** Whether the history of the repository contains the program. */
export const hasEarlierProgram = await run('git', ['cat-file', '-e', commit], inRepository()).then(
  () => true,
  () => false,
);

/** Installs the program with the packages of its time. */
export async function installEarlierProgram(): Promise<EarlierProgram> {
  const folder = mkdtempSync(join(tmpdir(), 'postroom-earlier-'));
  const archive = join(folder, 'archive.tar');
  await run('git', ['archive', '--output', archive, commit], inRepository());
  await run('tar', ['-x', '-f', archive], folder);
  await run('npm', ['ci', '--omit=dev', '--prefer-offline', '--no-audit', '--no-fund'], folder);
  return {
    program: [join(folder, 'src/main.ts'), 'serve'],
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function run(command: string, args: string[], cwd: string): Promise<unknown> {
  return promisify(execFile)(command, args, { cwd });
}
