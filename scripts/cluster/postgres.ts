import { randomBytes } from 'node:crypto';
import { chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '../free-port.ts';
import { findUnprivilegedUser } from './postgres-programs.ts';
import { type Program, type Programs, runToEnd } from './program.ts';

const superuser = 'postroom';

/** A PostgreSQL of our own, which listens on the loopback address only. */
export interface Postgres {
  program: Program;
  url: string;
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
