import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createPost, createRoom, signUp } from '../support/accounts.ts';
import { program, nodeOptions as programOptions } from '../support/program.ts';
import { Server } from '../support/server.ts';

/** The default limits, with a rate limit that no row reaches. */
const settings = { RATE_LIMIT: '1000000000', PORT: '0' };
const postroom = './servers/postroom.ts';
const comparison = '../comparison/http';

interface Candidate {
  title: string;
  file: string;
  environment: Record<string, string>;
}

export const candidates = {
  raw: { title: 'raw node:http, constant bytes', file: './servers/raw.ts', environment: {} },
  postroom: { title: 'Postroom', file: postroom, environment: settings },
  'mercurius-jit': { title: 'Mercurius with JIT', file: `${comparison}/mercurius.ts`, environment: { JIT: '1' } },
  mercurius: { title: 'Mercurius', file: `${comparison}/mercurius.ts`, environment: {} },
  apollo: { title: 'Apollo Server', file: `${comparison}/apollo.ts`, environment: {} },
  yoga: { title: 'Yoga', file: `${comparison}/yoga.ts`, environment: {} },
  'without-limits': {
    title: 'Postroom without limits',
    file: postroom,
    environment: { ...settings, WITHOUT_LIMITS: '1' },
  },
} satisfies Record<string, Candidate>;

export type CandidateName = keyof typeof candidates;

export interface StartOptions {
  environment?: Record<string, string>;
  nodeOptions?: string[];
}

export function start(name: CandidateName, { environment = {}, nodeOptions = [] }: StartOptions): Promise<Server> {
  const { file, environment: own } = candidates[name];
  const path = fileURLToPath(new URL(file, import.meta.url));
  const options = file === postroom ? [...programOptions, ...nodeOptions] : nodeOptions;
  return Server.start({ command: [path], environment: { ...own, ...environment }, nodeOptions: options });
}

/** Starts the real program with users and posts. The stock servers read its database file. */
export async function startOnDatabase(
  nodeOptions: string[],
  own: Record<string, string> = {},
): Promise<{ server: Server; file: string; token: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'postroom-bench-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'postroom.db');
  const environment = { ...settings, DATABASE_URL: `sqlite:${file}`, SIGN_IN_ATTEMPTS: '1000', ...own };
  const server = await Server.start({ command: program, environment, nodeOptions });
  return { server, file, token: await createPosts(server.port) };
}

/** Creates 200 posts by 20 users in one room. Returns the access token of a user. */
export async function createPosts(port: number): Promise<string> {
  const tokens = [];
  for (let number = 0; number < 20; number += 1) tokens.push(await signUp(port, number));
  const [owner = ''] = tokens;
  const room = await createRoom(port, owner);
  for (let number = 0; number < 200; number += 1) {
    await createPost(port, tokens[number % tokens.length] ?? owner, { room, title: `post ${number}` });
  }
  return owner;
}
