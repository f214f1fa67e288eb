import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../comparison');

/** Installs the servers with which Postroom is compared. They are not dependencies of the project. */
export function installPackages(): void {
  if (existsSync(join(folder, 'node_modules'))) return;
  execFileSync('npm', ['ci', '--no-fund', '--no-audit', '--prefix', folder], { stdio: 'inherit' });
}
