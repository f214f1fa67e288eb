import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPostgresPrograms, findUnprivilegedUser } from '../../../scripts/cluster/postgres-programs.ts';
import { findFreePort } from '../../../scripts/free-port.ts';
import { query } from './postgres-query.ts';

/** A cluster is deleted after the tests, so nothing needs to be on disk. */
const settings = {
  fsync: 'off',
  full_page_writes: 'off',
  // With a database for each test, it would start ten processes in each second.
  autovacuum: 'off',
  max_connections: '600',
  shared_buffers: '64MB',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  log_min_messages: 'fatal',
};

/** The folder of PostgreSQL's programs; tests that need it are skipped if it is undefined. */
export const postgresPrograms = findPostgresPrograms();

const user = findUnprivilegedUser();

/** A PostgreSQL server of its own, on a free port, in a temporary folder. */
export class PostgresCluster {
  readonly folder: string;
  readonly port: number;
  #databases = 0;

  private constructor(folder: string, port: number) {
    this.folder = folder;
    this.port = port;
  }

  static async start(own: Record<string, string> = {}): Promise<PostgresCluster> {
    const cluster = await PostgresCluster.#create();
    const options = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'];
    await cluster.#run('initdb', '-D', cluster.folder, ...options);
    cluster.#configure({ ...settings, ...own });
    await cluster.startServer();
    return cluster;
  }

  /** Starts a server that replicates the one at this port of the loopback address. */
  static async startStandby(port: number): Promise<PostgresCluster> {
    const standby = await PostgresCluster.#create();
    const source = ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres'];
    await standby.#run(
      'pg_basebackup',
      '-D',
      standby.folder,
      ...source,
      '-R',
      '-X',
      'stream',
      '-c',
      'fast',
      '--no-sync',
    );
    standby.#configure({});
    await standby.startServer();
    return standby;
  }

  url(database: string, person = 'postgres'): string {
    return `postgres://${person}@127.0.0.1:${this.port}/${database}`;
  }

  /** Creates a database, and returns its name. `options`: those of the SQL command. */
  async createDatabase(options = ''): Promise<string> {
    this.#databases += 1;
    const name = `test${this.#databases}`;
    await this.query('postgres', `create database ${name} ${options}`);
    return name;
  }

  /** Runs statements in this database: see `query`. */
  query(database: string, sql: string, values?: unknown[]): Promise<Record<string, unknown>[]> {
    return query(this.url(database), sql, values);
  }

  startServer(): Promise<void> {
    return this.#run('pg_ctl', '-D', this.folder, '-w', '-s', '-l', join(this.folder, 'server.log'), 'start');
  }

  stopServer(mode: 'fast' | 'immediate'): Promise<void> {
    return this.#run('pg_ctl', '-D', this.folder, '-w', '-s', '-m', mode, 'stop');
  }

  /** Makes a standby accept writes. */
  promote(): Promise<void> {
    return this.#run('pg_ctl', '-D', this.folder, '-w', '-s', 'promote');
  }

  /** Stops the server, if it runs, and deletes its data. */
  async remove(): Promise<void> {
    await this.stopServer('immediate').catch(() => {});
    rmSync(this.folder, { recursive: true, force: true });
  }

  static async #create(): Promise<PostgresCluster> {
    const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'postroom-postgres-'));
    if (user) chownSync(folder, user.uid, user.gid);
    return new PostgresCluster(folder, await findFreePort());
  }

  #configure(own: Record<string, string>): void {
    const lines = Object.entries({ ...own, port: String(this.port) });
    appendFileSync(
      join(this.folder, 'postgresql.conf'),
      lines.map(([name, value]) => `${name} = '${value}'\n`).join(''),
    );
  }

  async #run(program: string, ...args: string[]): Promise<void> {
    if (postgresPrograms === undefined) throw new Error('PostgreSQL is not installed.');
    // The server keeps its output open, so a pipe would never end.
    const child = spawn(join(postgresPrograms, program), args, { ...user, stdio: 'ignore', cwd: '/' });
    const [status] = await once(child, 'exit');
    if (status !== 0) throw new Error(`${program} failed with ${status}: ${args.join(' ')}`);
  }
}
