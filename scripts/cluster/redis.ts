import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { findFreePort } from '../free-port.ts';
import type { Program, Programs } from './program.ts';

export interface Redis {
  program: Program;
  url: string;
}

/** The path of redis-server; undefined if it is not installed. */
export function findRedisProgram(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.map((folder) => join(folder, 'redis-server')).find((path) => existsSync(path));
}

/** Starts a Redis that listens on the loopback address only and stores nothing on disk. */
export async function startRedis(programs: Programs, path: string, folder: string): Promise<Redis> {
  const port = await findFreePort();
  const program = programs.start(
    'Redis',
    path,
    ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder],
    { ready: /Ready to accept connections/, stopSignal: 'SIGTERM' },
  );
  await program.ready;
  return { program, url: `redis://127.0.0.1:${port}` };
}
