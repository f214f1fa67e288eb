import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { ClientError } from '../errors.ts';
import { WrongArguments } from './failure.ts';

/** The folder of a parent of workers begins with it and the process id. Only its user may use the sockets there. */
export const folderPrefix = 'postroom-workers-';
const done = 'done';

export function socketPath(folder: string, name: string): string {
  return process.platform === 'win32' ? `\\\\.\\pipe\\${basename(folder)}-${name}` : join(folder, name);
}

/** Replaces the workers when the command `restart` asks for it; `replaceAll` resolves with the reason if it fails. */
export async function openControl(folder: string, replaceAll: () => Promise<string | undefined>): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', async () => void socket.end((await replaceAll()) ?? done));
  });
  await once(server.listen(socketPath(folder, 'control')), 'listening');
  return server;
}

/** `restart [PID]`: replaces the workers of a server on this machine one after the other. Returns 0 when all are replaced. */
export async function restart([pid, ...rest]: string[]): Promise<number> {
  if (rest.length > 0 || (pid !== undefined && !/^\d+$/.test(pid))) throw new WrongArguments('restart [PID]');
  const prefix = pid === undefined ? folderPrefix : `${folderPrefix}${pid}-`;
  const folders = readdirSync(tmpdir()).filter((name) => name.startsWith(prefix));
  const sockets = folders.map((name) => connect(socketPath(join(tmpdir(), name), 'control')));
  try {
    // A parent that was killed has left its folder.
    const isOpen = await Promise.all(sockets.map((socket) => once(socket, 'connect').catch(() => false)));
    const [found, ...others] = sockets.filter((_, index) => isOpen[index]);
    if (!found) throw new ClientError('NOT_FOUND', `no server with WORKERS has a folder ${prefix}… in ${tmpdir()}`);
    const pids = folders.filter((_, index) => isOpen[index]).map((name) => name.split('-')[2]);
    if (others.length > 0) throw new ClientError('CONFLICT', `restart one of several servers: ${pids.join(', ')}`);
    found.write('restart');
    const answer = await text(found);
    if (answer !== done) throw new ClientError('CONFLICT', answer || `the process ${pids[0]} ended`);
    process.stdout.write(`The workers of the process ${pids[0]} were replaced.\n`);
    return 0;
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}
