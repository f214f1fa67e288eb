import { join } from 'node:path';
import { createTemporaryFolder } from '../data/history.ts';
import { createPost, createRoom, signUp } from '../support/accounts.ts';
import { ask } from '../support/client.ts';
import type { Server } from '../support/server.ts';
import { spread } from '../support/statistics.ts';
import type { TableWithTargets } from '../support/table.ts';
import { type Run, startServer } from './databases.ts';
import { largeRoom } from './generate.ts';

const goalMs = 10;
const bodies = { count: 100, text: '😀'.repeat(20_000) };

const aliased = (count: number, field: (index: number) => string) =>
  `{ ${Array.from({ length: count }, (_, index) => `a${index}: ${field(index)}`).join(' ')} }`;

const rare = 'no title contains this';

/** The most expensive operations that the limits allow. */
const queries: Record<string, string> = {
  'a search without a match': `{ posts(filter: { title: "${rare}" }) { data { id } } }`,
  'a search and its total': `{ posts(filter: { title: "${rare}" }) { pagination { total } } }`,
  'eight totals': aliased(8, (index) => `posts(page: ${index + 1}, limit: 1) { pagination { total } }`),
  'eight pages 9,000': aliased(8, (index) => `posts(page: ${9_000 - index}) { data { id } }`),
  'the total of a room': `{ posts(filter: { room: "${largeRoom}" }) { pagination { total } } }`,
  'users by name': `{ users(filter: { name: "${rare}" }) { data { id } } }`,
  '50 users with 95 posts each': '{ users(limit: 50) { data { name posts(last: 95) { id title createdAt } } } }',
  '40 users with 40 posts with author and room':
    '{ users(limit: 40) { data { name posts(last: 40) { title author { name } room { name } } } } }',
  '20 rooms with 100 posts with author each':
    '{ rooms(limit: 20) { data { name posts(first: 100) { nodes { title author { name } } } } } }',
  '29 pages of 100 posts': aliased(
    29,
    (index) => `posts(page: ${index + 1}, limit: 100) { data { id title updatedAt } }`,
  ),
};

interface Servers {
  server: Server;
  idle: Server;
}

/** The longest time for which an operation blocks the event loop of a server that does nothing else. */
export async function measureBlocks({ large, rounds }: Run): Promise<TableWithTargets> {
  const server = await startServer(large.url);
  // A block of its event loop shows that others, such as the database, use the processors.
  const idle = await startServer(`sqlite:${join(createTemporaryFolder(), 'idle.db')}`);
  try {
    const room = await createLongPosts(server.port);
    const all = {
      ...queries,
      '100 posts of 20,000 emoji': `{ room(id: "${room}") { posts(first: 100) { nodes { body } } } }`,
    };
    const found = [];
    for (const [name, query] of Object.entries(all))
      found.push({ name, ...(await measure({ server, idle }, query, rounds)) });
    const rows = found.map(({ name, blockMs, idleMs, answerMs, refused }) => ({
      operation: name,
      'longest block, ms': spread(blockMs, 1),
      'of an idle server, ms': spread(idleMs, 1),
      'ms to the answer': spread(answerMs, 0),
      '503': refused === 0 ? '' : `${refused} of ${rounds}`,
    }));
    const targets = found.map(({ name, blockMs }) => ({
      name: `${name}, longest block ÷ ${goalMs} ms`,
      ratios: blockMs.map((ms) => ms / goalMs),
      atMost: 1,
    }));
    const about = `${large.sizes.posts.toLocaleString('en-US')} posts; one operation at a time, ${rounds} rounds.`;
    return { title: 'Blocks of the event loop', about, rows, targets };
  } finally {
    for (const each of [server, idle]) await each.stop();
  }
}

async function measure({ server, idle }: Servers, query: string, rounds: number) {
  const blockMs: number[] = [];
  const idleMs: number[] = [];
  const answerMs: number[] = [];
  let refused = 0;
  for (let round = -2; round < rounds; round += 1) {
    await server.usage('blocks');
    await idle.usage('blocks');
    const startedAt = performance.now();
    const isAnswered = await isAnsweredInTime(server.port, query);
    const ms = performance.now() - startedAt;
    const { longestBlockMs } = await server.usage('blocks');
    const { longestBlockMs: idleBlockMs } = await idle.usage('blocks');
    if (round < 0) continue;
    idleMs.push(idleBlockMs);
    blockMs.push(longestBlockMs);
    answerMs.push(ms);
    if (!isAnswered) refused += 1;
  }
  return { blockMs, idleMs, answerMs, refused };
}

/** False if the operation took too long, which a search of ten million posts may. @throws Error for any other failure. */
async function isAnsweredInTime(port: number, query: string): Promise<boolean> {
  try {
    await ask(port, { query });
    return true;
  } catch (error) {
    if (error instanceof Error && error.message.includes('answers 503')) return false;
    throw error;
  }
}

/** Returns the id of their room. */
async function createLongPosts(port: number): Promise<string> {
  const token = await signUp(port, Date.now());
  const room = await createRoom(port, token, `long bodies ${Date.now()}`);
  for (let index = 0; index < bodies.count; index += 1) {
    await createPost(port, token, { room, title: 'long', body: bodies.text });
  }
  return room;
}
