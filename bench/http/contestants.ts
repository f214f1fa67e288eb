import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Server } from '../fan-out/server.ts';
import { program, nodeOptions as programOptions } from '../program.ts';

/** Guards and limits as they are by default, and a rate that nobody reaches. */
const settings = { LOG_LEVEL: 'warn', RATE_LIMIT: '1000000000', PORT: '0' };

export const contestants = {
  raw: { title: 'raw node:http, constant bytes', file: 'raw', environment: {} },
  postroom: { title: 'Postroom', file: 'postroom', environment: settings },
  'mercurius-jit': { title: 'Mercurius with JIT', file: 'mercurius', environment: { JIT: '1' } },
  mercurius: { title: 'Mercurius', file: 'mercurius', environment: {} },
  apollo: { title: 'Apollo Server', file: 'apollo', environment: {} },
  yoga: { title: 'Yoga', file: 'yoga', environment: {} },
  unguarded: {
    title: 'Postroom without its guards',
    file: 'postroom',
    environment: { ...settings, UNGUARDED: '1' },
  },
} as const satisfies Record<string, { title: string; file: string; environment: Record<string, string> }>;

export type ContestantName = keyof typeof contestants;

export interface StartOptions {
  environment?: Record<string, string>;
  nodeOptions?: string[];
}

export function start(name: ContestantName, { environment = {}, nodeOptions = [] }: StartOptions): Promise<Server> {
  const { file, environment: own } = contestants[name];
  const path = fileURLToPath(new URL(`./servers/${file}.ts`, import.meta.url));
  const command = file === 'postroom' ? [...programOptions, path] : [path];
  return Server.start({ command, environment: { ...own, ...environment }, nodeOptions });
}

/** The real program on a database with people and posts, which the peers read beside it. */
export async function startOnDatabase(
  nodeOptions: string[],
  own: Record<string, string> = {},
): Promise<{ server: Server; file: string; token: string }> {
  const file = join(mkdtempSync(join(tmpdir(), 'postroom-bench-')), 'postroom.db');
  const environment = { ...settings, DATABASE_URL: `sqlite:${file}`, SIGN_IN_ATTEMPTS: '1000', ...own };
  const server = await Server.start({ command: program, environment, nodeOptions });
  const tokens = [];
  for (let number = 0; number < 20; number += 1) tokens.push(await signUp(server, number));
  const [owner = ''] = tokens;
  const { createRoom } = await ask(server, 'mutation { createRoom(input: { name: "lobby" }) { room { id } } }', owner);
  for (let number = 0; number < 200; number += 1) {
    const input = `{ room: "${createRoom.room.id}", title: "post ${number}" }`;
    await ask(server, `mutation { createPost(input: ${input}) { post { id } } }`, tokens[number % tokens.length]);
  }
  return { server, file, token: owner };
}

async function signUp(server: Server, number: number): Promise<string> {
  const input = `{ name: "Person ${number}", email: "person${number}@example.org", password: "correct horse" }`;
  const { signUp } = await ask(server, `mutation { signUp(input: ${input}) { accessToken } }`);
  return signUp.accessToken;
}

/** The data of an operation that must succeed. */
// biome-ignore lint/suspicious/noExplicitAny: its shape is the query's.
export async function ask({ port }: Server, query: string, token?: string): Promise<any> {
  const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify({ query }),
  });
  const { data, errors } = (await response.json()) as { data: unknown; errors?: unknown };
  if (errors) throw new Error(`${query} failed: ${JSON.stringify(errors)}`);
  return data;
}
