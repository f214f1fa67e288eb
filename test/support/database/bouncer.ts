import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { findFreePort } from '../../../scripts/free-port.ts';
import { query } from './postgres-query.ts';

export const hasBouncer = spawnSync('pgbouncer', ['--version'], { env: environment() }).status === 0;

/** Debian installs it in a folder that is not in the path of every user. */
function environment(): Record<string, string> {
  return { PATH: `${process.env['PATH']}:/usr/sbin` };
}

/** It refuses to run as root. */
function unprivileged(): { uid?: number; gid?: number } {
  return process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
}

/** Starts a PgBouncer in front of a database for one test. Returns the URL of the database through it. */
export async function launchBouncer(databaseUrl: string, settings: Record<string, string>): Promise<string> {
  const url = new URL(databaseUrl);
  const target = `host=${url.hostname} port=${url.port} user=${url.username}`;
  url.port = String(await findFreePort());
  const folder = mkdtempSync(join(tmpdir(), 'postroom-bouncer-'));
  const all = { listen_addr: '127.0.0.1', listen_port: url.port, unix_socket_dir: '', auth_type: 'any', ...settings };
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}\n`);
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(file, `[databases]\n* = ${target}\n[pgbouncer]\n${lines.join('')}`);
  chmodSync(folder, 0o755);
  const child = spawn('pgbouncer', [file], { ...unprivileged(), env: environment(), stdio: 'ignore', cwd: '/' });
  onTestFinished(async () => {
    await stop(child);
    rmSync(folder, { recursive: true });
  });
  while (!(await answers(url.href))) if (child.exitCode !== null) throw new Error('PgBouncer has ended.');
  return url.href;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

function answers(url: string): Promise<boolean> {
  return query(url, 'select 1').then(
    () => true,
    () => false,
  );
}
