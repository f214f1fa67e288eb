import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const packages = '/usr/lib/postgresql';
/** A cluster is deleted after the tests, so nothing needs to be on disk. */
const settings = {
  fsync: 'off',
  full_page_writes: 'off',
  max_connections: '400',
  shared_buffers: '64MB',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  log_min_messages: 'fatal',
};

/** The folder of initdb and pg_ctl, or undefined if they are not installed. */
export const postgresPrograms = findPrograms();

function findPrograms(): string | undefined {
  const versions = existsSync(packages) ? readdirSync(packages).sort((one, other) => Number(other) - Number(one)) : [];
  const folders = [
    ...versions.map((version) => join(packages, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(':'),
  ];
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'pg_ctl')));
}

/** PostgreSQL refuses to run as root. */
function findUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (option: string) =>
    Number(spawnSync('id', [option, 'postgres'], { encoding: 'utf8' }).stdout.trim() || 65_534);
  return { uid: idOf('-u'), gid: idOf('-g') };
}

const user = findUser();

/** A PostgreSQL server of its own, on a free port, in a temporary folder. */
export class PostgresCluster {
  readonly folder: string;
  readonly port: number;

  private constructor(folder: string, port: number) {
    this.folder = folder;
    this.port = port;
  }

  static async start(own: Record<string, string> = {}): Promise<PostgresCluster> {
    const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'postroom-postgres-'));
    if (user) chownSync(folder, user.uid, user.gid);
    const cluster = new PostgresCluster(folder, await findFreePort());
    cluster.#run(
      'initdb',
      '-D',
      folder,
      '-U',
      'postgres',
      '-A',
      'trust',
      '-E',
      'UTF8',
      '--locale=C.UTF-8',
      '--no-sync',
    );
    const lines = Object.entries({ ...settings, ...own, port: String(cluster.port) });
    appendFileSync(join(folder, 'postgresql.conf'), lines.map(([name, value]) => `${name} = '${value}'\n`).join(''));
    cluster.startServer();
    return cluster;
  }

  url(database: string, person = 'postgres'): string {
    return `postgres://${person}@127.0.0.1:${this.port}/${database}`;
  }

  startServer(): void {
    this.#run('pg_ctl', '-D', this.folder, '-w', '-s', '-l', join(this.folder, 'server.log'), 'start');
  }

  stopServer(mode: 'fast' | 'immediate'): void {
    this.#run('pg_ctl', '-D', this.folder, '-w', '-s', '-m', mode, 'stop');
  }

  /** Stops the server and deletes its data. */
  remove(): void {
    this.stopServer('immediate');
    rmSync(this.folder, { recursive: true, force: true });
  }

  #run(program: string, ...args: string[]): void {
    if (postgresPrograms === undefined) throw new Error('PostgreSQL is not installed.');
    // The server keeps its output open, so a pipe would never end.
    execFileSync(join(postgresPrograms, program), args, { ...user, stdio: 'ignore', cwd: '/' });
  }
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
