import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../comparison');

/** Installs the servers with which Postroom is compared. They are not dependencies of the project. */
export function installPackages(): void {
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  if (Object.keys(dependencies).every((name) => existsSync(join(folder, 'node_modules', name)))) return;
  execFileSync('npm', ['ci', '--no-fund', '--no-audit', '--prefix', folder], { stdio: 'inherit' });
}
