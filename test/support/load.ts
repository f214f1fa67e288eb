import { existsSync, readFileSync } from 'node:fs';
import type { Person, Postroom, PostroomProcess } from './postroom.ts';

const batchLength = 25;
const memoryFolder = '/dev/shm';

/** Where there is a file system in memory the load is not the disk's. */
export const inMemory: Record<string, string> = existsSync(memoryFolder) ? { TMPDIR: memoryFolder } : {};

export interface Load {
  author: Person;
  room: string;
  /** A multiple of 25. */
  count: number;
  bytes: number;
  /** What the bodies are made of; by default a letter of one byte. */
  letter?: string;
}

/** Posts as fast as they are committed: several to a request, and one request behind the other. */
export async function makePosts(postroom: Postroom, { author, room, count, bytes, letter = 'x' }: Load): Promise<void> {
  const fields = Array.from(
    { length: batchLength },
    (_, index) => `p${index}: createPost(input: $input) { post { id } }`,
  );
  const mutation = `mutation ($input: CreatePostInput!) { ${fields.join(' ')} }`;
  const input = { room, title: 'one of many', body: letter.repeat(bytes / Buffer.byteLength(letter)) };
  for (let made = 0; made < count; made += batchLength) await postroom.ask(mutation, { input }, author.token);
}

function readStatus({ process }: PostroomProcess, name: string): number {
  const status = readFileSync(`/proc/${process.pid}/status`, 'utf8');
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1_024;
}

/** The memory that the process holds, in MiB, as the kernel counts it. */
export function memoryOf(postroom: PostroomProcess): number {
  return readStatus(postroom, 'VmRSS');
}

/** The most memory that it has held so far. */
export function peakMemoryOf(postroom: PostroomProcess): number {
  return readStatus(postroom, 'VmHWM');
}
