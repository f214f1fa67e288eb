import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { launchProcessForTest, scratchFolder } from '../support/server/postroom.ts';

const erase = 'mutation ($id: ID!) { deleteUser(input: { id: $id }) { user { id } } }';

/** A server with one account, and a reader whose open transaction still needs the content of the write-ahead log. */
async function prepare() {
  const file = join(scratchFolder(), 'postroom.db');
  const settings = { DATABASE_URL: `sqlite:${file}` };
  const name = 'Ada whom nobody must find again';
  const postroom = await launchProcessForTest(settings);
  const ada = await postroom.signUp(name);
  const reader = new DatabaseSync(file);
  onTestFinished(() => reader.close());
  reader.exec('begin; select count(*) from users');
  const isOnDisk = () => [file, `${file}-wal`].some((part) => existsSync(part) && readFileSync(part).includes(name));
  return { postroom, ada, reader, isOnDisk, settings };
}

it('content of an erased account that another process still reads is removed from the files after that read, without a request', async () => {
  const { postroom, ada, reader, isOnDisk } = await prepare();
  await postroom.ask(erase, { id: ada.id }, ada.token);
  expect(isOnDisk()).toBe(true);
  reader.exec('rollback');
  await expect.poll(isOnDisk).toBe(false);
});

it('it is removed also if the server is killed meanwhile: the next start purges it', async () => {
  const { postroom, ada, reader, isOnDisk, settings } = await prepare();
  await postroom.ask(erase, { id: ada.id }, ada.token);
  await postroom.kill();
  reader.exec('rollback');
  expect(isOnDisk()).toBe(true);
  await launchProcessForTest(settings);
  expect(isOnDisk()).toBe(false);
});
