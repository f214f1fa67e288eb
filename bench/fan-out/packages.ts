import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '..');

/** The peers', which nothing but the benches needs. */
export function installPackages(): void {
  if (existsSync(join(folder, 'node_modules'))) return;
  execFileSync('npm', ['ci', '--no-fund', '--no-audit', '--prefix', folder], { stdio: 'inherit' });
}
