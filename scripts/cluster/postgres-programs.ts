import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Folders in which packages install PostgreSQL without adding them to PATH; a later version comes first. */
const packageFolders = [
  '/usr/lib/postgresql/*/bin',
  '/usr/pgsql-*/bin',
  '/opt/homebrew/opt/postgresql@*/bin',
  '/usr/local/opt/postgresql@*/bin',
];
const needed = ['initdb', 'postgres', 'pg_ctl', 'createdb'];

/** The folder with PostgreSQL's programs; undefined if they are not installed. */
export function findPostgresPrograms(): string | undefined {
  const installed = globSync(packageFolders).sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...installed];
  return folders.find((folder) => needed.every((name) => existsSync(join(folder, name))));
}

/** PostgreSQL refuses to run as root; then it runs as the user of its package, or as nobody. */
export function findUnprivilegedUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const names = readFileSync('/etc/passwd', 'utf8');
  const name = /^postgres:/m.test(names) ? 'postgres' : 'nobody';
  const idOf = (option: string) => Number(execFileSync('id', [option, name], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}
