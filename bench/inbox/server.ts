import { existsSync } from 'node:fs';
import { createRoom, signUp } from '../support/accounts.ts';
import { ask } from '../support/client.ts';
import { program } from '../support/program.ts';
import { Server } from '../support/server.ts';

const memoryDisk = '/dev/shm';
const joinsPerRequest = 25;

/** A server with rooms, and with users who are members of all of them. */
export interface InboxServer {
  server: Server;
  /** The access token of the owner of the rooms. */
  owner: string;
  rooms: string[];
  /** The access tokens of the members. */
  members: string[];
  /** Another room of the owner. */
  createRoom: (name: string) => Promise<string>;
}

export async function startInboxServer(roomCount: number, memberCount: number): Promise<InboxServer> {
  // The disk must not affect the figures, so the database file is in memory if the system has such a folder.
  const disk = existsSync(memoryDisk) ? { TMPDIR: memoryDisk } : {};
  const limits = { RATE_LIMIT: '0', LIMIT_SOCKETS: '1000000', SIGN_IN_ATTEMPTS: '1000000', SLOW_OPERATION_MS: '0' };
  const environment = { PORT: '0', DATABASE_URL: 'sqlite::memory:', ...disk, ...limits };
  const server = await Server.start({ command: program, environment });
  const owner = await signUp(server.port);
  const create = (name: string) => createRoom(server.port, owner, name);
  const rooms: string[] = [];
  while (rooms.length < roomCount) rooms.push(await create(`room ${rooms.length}`));
  const members: string[] = [];
  while (members.length < memberCount) members.push(await signUp(server.port, members.length + 1));
  for (const token of members) await joinAll(server.port, token, rooms);
  return { server, owner, rooms, members, createRoom: create };
}

async function joinAll(port: number, token: string, rooms: readonly string[]): Promise<void> {
  for (let start = 0; start < rooms.length; start += joinsPerRequest) {
    const joins = rooms
      .slice(start, start + joinsPerRequest)
      .map((room, index) => `j${index}: joinRoom(input: { room: "${room}" }) { room { id } }`);
    await ask(port, { query: `mutation { ${joins.join(' ')} }`, token });
  }
}
