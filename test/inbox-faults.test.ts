import { expect, it } from 'vitest';
import { change, InboxStream } from './support/inbox-stream.ts';
import { launchForTest, scratchFolder } from './support/postroom.ts';
import { breakTable } from './support/test-database.ts';

/** Reads the table "apiKeys", which the mutations below do not read. */
const query = 'subscription { inbox { __typename cursor room { id name } actor { id apiKeys { name } } } }';
const pollOptions = { timeout: 20_000, interval: 5 };

it('RoomRead and RoomDeleted that cannot be read for a while are sent once, when they can be read', async () => {
  const file = `${scratchFolder()}/postroom.db`;
  const postroom = await launchForTest({ DATABASE_URL: `sqlite:${file}` });
  const bob = await postroom.signUp('Bob');
  const [hall, attic] = [await postroom.createRoom(bob, 'hall'), await postroom.createRoom(bob, 'attic')];
  const inboxes = [await InboxStream.open(postroom, bob, { query }), await InboxStream.open(postroom, bob, { query })];
  const faults = () => postroom.log.filter(({ msg }) => msg === 'the live feed failed, and tries again').length;
  for (const [name, room, event] of [
    ['markRead', attic, 'RoomRead attic'],
    ['deleteRoom', hall, 'RoomDeleted hall'],
  ] as const) {
    const mend = breakTable(file, 'apiKeys');
    const before = faults();
    await change(postroom, name, bob, room);
    await expect.poll(() => faults() - before, pollOptions).toBeGreaterThan(0);
    mend();
    for (const inbox of inboxes) expect(await Promise.race([inbox.take(1), inbox.refused])).toEqual([event]);
  }
  await postroom.createPost(bob, attic, 'one');
  for (const inbox of inboxes) expect(await inbox.take(1)).toEqual(['PostCreated attic']);
});
