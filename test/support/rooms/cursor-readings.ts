import { expect } from 'vitest';
import type { Person, Postroom } from '../server/postroom.ts';
import { withDatabase } from '../server/shared-server.ts';
import { openCursor, seqOf } from './cursors.ts';

/** The cursors and posts of a room in one response or event. */
export interface Reading {
  of: string;
  /** The sequence number of the latest cursor; -1 without a cursor. */
  seq: number;
  /** The oldest version of each post. */
  versions: Map<string, number>;
}

/** Collects the cursors of the room and the versions of posts at any depth of `value`. */
export function readingOf(of: string, room: string, value: unknown): Reading {
  const reading: Reading = { of, seq: -1, versions: new Map() };
  collect(value, room, reading);
  return reading;
}

function collect(value: unknown, room: string, reading: Reading): void {
  if (typeof value !== 'object' || value === null) return;
  if ('version' in value) addPost(value as { id: string; version: number }, reading.versions);
  for (const [key, item] of Object.entries(value)) {
    const isCursor = key === 'cursor' || key === 'position';
    if (!isCursor) collect(item, room, reading);
    else if (openCursor(item).roomId === room) reading.seq = Math.max(reading.seq, seqOf(item));
  }
}

function addPost({ id, version }: { id: string; version: number }, versions: Map<string, number>): void {
  versions.set(id, Math.min(version, versions.get(id) ?? Number.POSITIVE_INFINITY));
}

interface LoggedEvent {
  seq: number;
  subjectId: string;
  version: number;
}

export function readLog(file: string, room: string): LoggedEvent[] {
  const sql = 'select "seq", "subjectId", "version" from "roomEvents" where "roomId" = ? order by "seq"';
  return withDatabase(file, (database) => database.prepare(sql).all(room)) as unknown as LoggedEvent[];
}

/** Expects that a client which resumes from the position of a reading misses no change of the posts in it. */
export function expectNothingMissed(readings: readonly Reading[], log: readonly LoggedEvent[]): void {
  for (const { of, seq, versions } of readings) {
    expect(seq, of).toBeGreaterThanOrEqual(0);
    expect(versions.size, of).toBeGreaterThan(0);
    const missed = log.filter(
      (event) => event.seq <= seq && event.version > (versions.get(event.subjectId) ?? Number.POSITIVE_INFINITY),
    );
    expect(missed, of).toEqual([]);
  }
}

export interface Writing {
  author: Person;
  posts: readonly string[];
  isDone: () => boolean;
  onWritten: (count: number) => void;
}

/** Updates the posts one after another until `isDone`. */
export async function keepWriting(postroom: Postroom, { author, posts, isDone, onWritten }: Writing): Promise<void> {
  const changes = posts.map(
    (id, index) => `p${index}: updatePost(input: { id: "${id}", title: $title }) { post { id } }`,
  );
  for (let round = 0; !isDone(); round += 1) {
    await postroom.ask(`mutation ($title: String) { ${changes} }`, { title: `title ${round}` }, author.token);
    onWritten(posts.length);
  }
}
