import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import { main, nodeOptions } from '../support/program.ts';
import type { TableWithTargets } from '../support/table.ts';
import type { Run } from './databases.ts';

const linesPerWrite = 1_000;

/** Imports as many new posts as a tenth of the large database, into an empty database and into the large one. */
export async function measureImports({ large, createEmpty }: Run): Promise<TableWithTargets> {
  const count = large.sizes.posts / 10;
  const first = await importPosts(await createEmpty(), count, large.sizes.users);
  const last = await importPosts(large.url, count, large.sizes.users);
  const rows = Object.entries({ 'an empty database': first, 'the large database': last }).map(([into, seconds]) => ({
    'import into': into,
    seconds: seconds.toFixed(1),
    'posts/s': (count / seconds).toFixed(0),
  }));
  const targets = [
    { name: 'speed of the last tenth ÷ the first tenth of an import', ratios: [first / last], atLeast: 0.8 },
  ];
  return { title: 'Import', about: `${count.toLocaleString('en-US')} posts in 100 rooms.`, rows, targets };
}

/** Returns the time in seconds. */
async function importPosts(url: string, count: number, users: number): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...nodeOptions, main, 'import', '-'], {
    env: { PATH: process.env['PATH'], DATABASE_URL: url },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  for (const text of writeLines(count, users)) if (!child.stdin.write(text)) await once(child.stdin, 'drain');
  child.stdin.end();
  await finished(child.stdin);
  const [status] = await once(child, 'close');
  if (status !== 0) throw new Error(`The import exited with status ${status}.`);
  return (performance.now() - startedAt) / 1_000;
}

function* writeLines(count: number, users: number): Generator<string> {
  const rooms = 100;
  const authors = Math.min(users, 10_000);
  const records = [
    ...Array.from({ length: rooms }, (_, n) => ({ type: 'room', name: `imported ${n}` })),
    ...Array.from({ length: authors }, (_, n) => ({ type: 'user', name: `author ${n}`, createdAt: timeOf(0) })),
  ];
  yield records.map((record) => `${JSON.stringify(record)}\n`).join('');
  for (let from = 0; from < count; from += linesPerWrite) {
    const numbers = Array.from({ length: Math.min(linesPerWrite, count - from) }, (_, index) => from + index);
    yield numbers.map((n) => `${JSON.stringify(postOf(n, rooms, authors))}\n`).join('');
  }
}

function postOf(n: number, rooms: number, authors: number): object {
  const title = `message ${n} of an import`;
  // Steps that are coprime to the numbers of rooms and authors, so that neighbours differ.
  const [room, author] = [`imported ${(n * 37) % rooms}`, `author ${(n * 7_919) % authors}`];
  return {
    type: 'post',
    room,
    author,
    title,
    body: `${title}, with a body of ordinary length for a chat`,
    publishedAt: timeOf(n),
  };
}

function timeOf(n: number): string {
  return new Date(Date.UTC(2024, 0, 1) + n * 1_000).toISOString();
}
