import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { inRepository, runNode } from '../repository.ts';

const folder = inRepository('scripts/lint-schema');

/** The problems that graphql-eslint finds in schema.graphql. The first check installs it. */
export async function lintSchema(): Promise<string[]> {
  if (!existsSync(`${folder}/node_modules`)) await install();
  const args = ['--config', `${folder}/eslint.config.js`, '--max-warnings', '0', 'schema.graphql'];
  const { status, stdout, stderr } = await runNode([`${folder}/node_modules/eslint/bin/eslint.js`, ...args]);
  return status === 0 ? [] : [`${stdout}${stderr}`.trim()];
}

async function install(): Promise<void> {
  await promisify(execFile)('npm', ['ci', '--ignore-scripts', '--no-fund', '--no-audit', '--prefix', folder]);
}
