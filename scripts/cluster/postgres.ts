import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { findFreePort, type Program, type Programs, runToEnd } from './program.ts';

/** Folders in which packages install PostgreSQL without adding them to PATH; a later version comes first. */
const packageFolders = [
  '/usr/lib/postgresql/*/bin',
  '/usr/pgsql-*/bin',
  '/opt/homebrew/opt/postgresql@*/bin',
  '/usr/local/opt/postgresql@*/bin',
];
const needed = ['initdb', 'postgres', 'createdb'];
const superuser = 'postroom';

/** A PostgreSQL of our own, which listens on the loopback address only. */
export interface Postgres {
  program: Program;
  url: string;
}

/** The folder with PostgreSQL's programs; undefined if they are not installed. */
export function findPostgresPrograms(): string | undefined {
  const installed = globSync(packageFolders).sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...installed];
  return folders.find((folder) => needed.every((name) => existsSync(join(folder, name))));
}

/** Creates a database cluster in `folder`, starts it, and creates a database in it. `binaries`: the folder of the programs. */
export async function createPostgres(
  programs: Programs,
  binaries: string,
  folder: string,
  settings: string[] = [],
): Promise<Postgres> {
  const user = findUnprivilegedUser();
  const data = join(folder, 'postgres');
  const passwordFile = join(folder, 'postgres-password');
  const password = randomBytes(16).toString('hex');
  mkdirSync(data, { mode: 0o700 });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (user) for (const path of [folder, data, passwordFile]) chownSync(path, user.uid, user.gid);
  await runToEnd(
    join(binaries, 'initdb'),
    [
      ...['--pgdata', data, '--username', superuser, '--pwfile', passwordFile],
      ...['--auth', 'scram-sha-256', '--encoding', 'UTF8', '--locale', 'C', '--no-sync'],
    ],
    { ...user, cwd: folder, env: environment() },
  );
  rmSync(passwordFile);
  const port = await findFreePort();
  const program = await startPostgres(programs, binaries, { folder, port, settings });
  try {
    const connection = ['--host', '127.0.0.1', '--port', String(port), '--username', superuser];
    await runToEnd(join(binaries, 'createdb'), [...connection, 'postroom'], {
      env: { ...environment(), PGPASSWORD: password },
    });
  } catch (error) {
    await program.stop();
    throw error;
  }
  return { program, url: `postgres://${superuser}:${password}@127.0.0.1:${port}/postroom` };
}

/** Starts the server of an existing cluster. Resolves when it accepts connections, after a recovery if one is needed. */
async function startPostgres(
  programs: Programs,
  binaries: string,
  { folder, port, settings = [] }: { folder: string; port: number; settings?: string[] },
): Promise<Program> {
  const all = [`listen_addresses=127.0.0.1`, `port=${port}`, `unix_socket_directories=${folder}`, ...settings];
  const program = programs.start(
    'PostgreSQL',
    join(binaries, 'postgres'),
    ['-D', join(folder, 'postgres'), ...all.flatMap((setting) => ['-c', setting])],
    {
      ...findUnprivilegedUser(),
      cwd: folder,
      env: environment(),
      ready: /database system is ready to accept connections/,
      // The fast shutdown: it does not wait for clients.
      stopSignal: 'SIGINT',
    },
  );
  await program.ready;
  return program;
}

/** With messages in English, which are searched. */
function environment(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], LC_ALL: 'C' };
}

/** PostgreSQL refuses to run as root; then it runs as the user of its package, or as nobody. */
function findUnprivilegedUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const names = readFileSync('/etc/passwd', 'utf8');
  const name = /^postgres:/m.test(names) ? 'postgres' : 'nobody';
  const idOf = (option: string) => Number(execFileSync('id', [option, name], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}
