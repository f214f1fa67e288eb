import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { body, title } from '../nodes/writer.ts';
import { createRoom, signUp } from '../support/accounts.ts';
import { program } from '../support/program.ts';
import { Server } from '../support/server.ts';

const query = 'mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id } } }';

/** A server, and the request that creates a post. */
export interface Target {
  server: Server;
  /** The database file, in which the stored posts are counted. */
  file: string;
  token?: string;
  body: string;
}

export interface OwnTarget extends Target {
  token: string;
  room: string;
}

/** Creates a folder that is removed when the process exits. */
export function createFolder(parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, 'postroom-bench-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts the real program with a database in the folder. */
export async function startPostroom(folder: string, wrapper: string[] = []): Promise<OwnTarget> {
  const file = join(folder, 'postroom.db');
  const environment = { PORT: '0', RATE_LIMIT: '0', DATABASE_URL: `sqlite:${file}` };
  const server = await Server.start({ command: program, environment, wrapper });
  const token = await signUp(server.port);
  const room = await createRoom(server.port, token);
  return { server, file, token, room, body: bodyFor(room) };
}

export function bodyFor(room: string): string {
  return JSON.stringify({ query, variables: { input: { room, title, body } } });
}
