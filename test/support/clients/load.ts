import { readFileSync } from 'node:fs';
import type { Person, Postroom, PostroomProcess } from '../server/postroom.ts';

const batchLength = 25;

export interface Load {
  author: Person;
  room: string;
  /** A multiple of 25. */
  count: number;
  bytes: number;
  /** The character that the bodies repeat; by default it takes one byte. */
  letter?: string;
}

/** Creates posts as fast as they are committed, in sequential requests of several posts each. */
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

/** The resident memory of the process, in MiB. */
export function memoryOf(postroom: PostroomProcess): number {
  return readStatus(postroom, 'VmRSS');
}

/** The peak resident memory of the process, in MiB. */
export function peakMemoryOf(postroom: PostroomProcess): number {
  return readStatus(postroom, 'VmHWM');
}
