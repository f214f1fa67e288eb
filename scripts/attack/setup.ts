import { type Account, createRoom, cursorOf, signUp } from './accounts.ts';
import { type ArchiveName, archiveRoom, copyArchive } from './archive.ts';
import type { HttpClient } from './http-client.ts';
import type { Sandbox } from './sandbox.ts';
import type { Server, ServerOptions } from './server.ts';

/** A running server with an account and a room. */
export interface Setup {
  server: Server;
  client: HttpClient;
  ada: Account;
  room: string;
  /** The cursor of the room at the start. */
  cursor: string;
}

const address = '127.0.0.9';
const maxSockets = 40;

export async function startWithRoom(sandbox: Sandbox, options: Partial<ServerOptions> = {}): Promise<Setup> {
  const server = await sandbox.start(options);
  const client = sandbox.openClient(server, address, maxSockets);
  const ada = await signUp(client);
  const room = await createRoom(client, ada);
  return { server, client, ada, room, cursor: await cursorOf(client, room) };
}

/** Starts a server on a copy of the archive. The room is the room of the archive. */
export async function startWithArchive(sandbox: Sandbox, name: ArchiveName): Promise<Setup> {
  const folder = sandbox.newFolder();
  copyArchive(name, folder);
  const server = await sandbox.start({ folder });
  const client = sandbox.openClient(server, address, maxSockets);
  const { room } = await client.ask(`{ room: roomByName(name: "${archiveRoom}") { id cursor } }`);
  return { server, client, ada: await signUp(client), room: room.id, cursor: room.cursor };
}
