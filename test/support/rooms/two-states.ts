import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import { launch, type Person, run, type Settings, scratchFolder, startInProcess } from '../server/postroom.ts';

/** A database whose server was killed, so that its latest posts are only in the write-ahead log, and an earlier backup. */
export interface TwoStates {
  /** Contains `postroom.db` and the file `backup`. */
  folder: string;
  ada: Person;
  room: string;
}

export const oldTitles = ['A1', 'A2', 'A3'];
export const newTitles = [...oldTitles, 'B4', 'B5'];

/** Creates them for all tests of a file. */
export async function shareTwoStates(): Promise<TwoStates> {
  const folder = mkdtempSync(join(tmpdir(), 'postroom-test-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const settings = settingsOf(folder);
  const postroom = await launch(settings);
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'lobby');
  for (const title of oldTitles) await postroom.createPost(ada, room, title);
  expect(await run(['backup', join(folder, 'backup')], settings)).toMatchObject({ status: 0 });
  for (const title of newTitles.slice(oldTitles.length)) await postroom.createPost(ada, room, title);
  await postroom.kill();
  return { folder, ada, room };
}

/** Copies the files for one test. */
export function copyStates({ folder }: TwoStates): string {
  const copy = scratchFolder();
  cpSync(folder, copy, { recursive: true });
  return copy;
}

export function settingsOf(folder: string): Settings {
  return { DATABASE_URL: `sqlite:${join(folder, 'postroom.db')}` };
}

/** The titles that a server reads; it also accepts another post. */
export async function readTitles(folder: string, { ada, room }: TwoStates): Promise<string[]> {
  const postroom = await startInProcess(settingsOf(folder));
  try {
    const query = 'query ($room: ID!) { room(id: $room) { posts(last: 50) { nodes { title } } } }';
    const { nodes } = (await postroom.ask(query, { room })).room.posts;
    await postroom.createPost(ada, room, 'written afterwards');
    return nodes.map(({ title }: { title: string }) => title);
  } finally {
    await postroom.stop();
  }
}
