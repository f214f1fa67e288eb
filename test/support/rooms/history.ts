import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withTestDatabase } from '../database/test-database.ts';
import { type Finished, main, programEnvironment, run, scratchFolder } from '../server/postroom.ts';
import { withDatabase } from '../server/shared-server.ts';

/** A line of a history file: a record, or literal text. */
export type HistoryLine = object | string;

export const room = { type: 'room', name: 'lobby' };
export const ada = { type: 'user', name: 'ada', createdAt: '2004-12-25T09:14:00.000Z' };
export const bob = { type: 'user', name: 'bob', createdAt: '2004-12-25T09:15:00.000Z' };

/** A post of ada in the lobby, `minute` minutes after the start of 2005. */
export function post(minute: number, fields: object = {}): object {
  const publishedAt = new Date(Date.UTC(2005, 0, 1, 0, minute)).toISOString();
  return {
    type: 'post',
    room: 'lobby',
    author: 'ada',
    title: `post ${minute}`,
    body: `post ${minute}`,
    publishedAt,
    ...fields,
  };
}

/** A room, a user and `posts` posts. */
export function history(posts: number): HistoryLine[] {
  return [room, ada, ...Array.from({ length: posts }, (_, minute) => post(minute))];
}

export function toText(lines: readonly HistoryLine[]): string {
  return lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');
}

/** A separate database for one test, into which history is imported. */
export class Archive {
  readonly folder = scratchFolder();
  readonly databaseFile = join(this.folder, 'postroom.db');
  readonly settings = { DATABASE_URL: `sqlite:${this.databaseFile}` };

  /** Writes a file in the test's folder. */
  write(name: string, content: string | Buffer): string {
    const file = join(this.folder, name);
    writeFileSync(file, content);
    return file;
  }

  take(lines: readonly HistoryLine[], ...options: string[]): Promise<Imported> {
    return this.takeFile(this.write('history.ndjson', toText(lines)), ...options);
  }

  takeFile(file: string, ...options: string[]): Promise<Imported> {
    return this.takeInput('', file, ...options);
  }

  /** Runs `postroom import …` with `input` on standard input. */
  async takeInput(input: string | Buffer, ...args: string[]): Promise<Imported> {
    return readSummary(await run(['import', ...args], this.settings, input));
  }

  count(table: 'rooms' | 'users' | 'posts' | 'roomEvents'): number {
    return withDatabase(this.databaseFile, (database) =>
      Number(database.prepare(`select count(*) as rows from "${table}"`).get()?.['rows']),
    );
  }
}

/** The exit of an import and the counts of its summary: `[added, already present]` for each kind. */
export interface Imported extends Finished {
  rooms: number[];
  users: number[];
  posts: number[];
  refused: number | undefined;
}

function readSummary(finished: Finished): Imported {
  const numbers = (row: RegExp) =>
    (row.exec(finished.stdout) ?? []).slice(1).map((text) => Number(text.replaceAll(',', '')));
  const countsOf = (noun: string) => numbers(new RegExp(`^${noun}: ([\\d,]+) added, ([\\d,]+) already present$`, 'm'));
  return {
    ...finished,
    rooms: countsOf('rooms'),
    users: countsOf('users'),
    posts: countsOf('posts'),
    refused: numbers(/^lines refused: ([\d,]+)$/m)[0],
  };
}

/** Collects the text of a stream; `hear` waits for a text. */
export class OutputReader {
  said = '';
  readonly #stream: NodeJS.ReadableStream;

  constructor(stream: NodeJS.ReadableStream) {
    this.#stream = stream;
    stream.on('data', (chunk) => {
      this.said += String(chunk);
    });
  }

  async hear(text: string): Promise<void> {
    while (!this.said.includes(text)) await once(this.#stream, 'data');
  }
}

/** Starts `postroom import -`, whose input stays open until the test ends it. */
export async function startImport(settings: Record<string, string>, ...options: string[]) {
  const own = await withTestDatabase(settings);
  const child = spawn(process.execPath, [main, 'import', '-', ...options], {
    env: { ...programEnvironment, ...own },
  });
  child.stdin.on('error', () => {});
  return {
    child,
    out: new OutputReader(child.stdout),
    err: new OutputReader(child.stderr),
    ended: once(child, 'close'),
  };
}
