import { expect, it, vi } from 'vitest';
import { inboxStore, outboxStore, presenceStore, roomStore } from '../../packages/client/src/index.ts';
import { inRepository } from '../../scripts/repository.ts';
import { open, openClient, until } from '../support/clients/postroom-client.ts';
import { TokenMaker } from '../support/identity/tokens.ts';
import { launchForTest } from '../support/server/postroom.ts';
import { launchStreamFixture } from '../support/server/stream-fixture.ts';

it('a server that trusts documents.json of the package answers all its stores, and renews its token', async () => {
  const tokens = new TokenMaker();
  const own = { SESSION_KEY: tokens.sessionKey };
  const { postroom, settings, ada, owner, room } = await launchStreamFixture(own);
  for (const title of ['1', '2', '3']) await postroom.createPost(owner, room, title);
  const strict = await launchForTest({
    ...settings,
    ...own,
    TRUSTED_DOCUMENTS: inRepository('packages/client/documents.json'),
  });
  expect((await strict.send('{ viewer { id } }')).status).toBe(403);
  const onToken = vi.fn();
  const client = openClient(strict.graphqlUrl, { token: await tokens.sign(ada.id, 50), onToken });
  const outbox = outboxStore(client, 'trusted');
  const shown = open(roomStore(client, room, { pageSize: 2, outbox }));
  const [inbox, presence] = [open(inboxStore(client)), open(presenceStore(client, room))];
  await until(shown, ({ posts }) => posts.length === 2);
  await shown.loadOlder();
  await outbox.send({ room, title: '4' });
  await until(shown, ({ posts }) => posts.map(({ title }) => title).join('') === '1234');
  await until(inbox, ({ rooms }) => rooms?.length === 1);
  presence.type('Hello');
  await until(presence, ({ typing }) => typing.length === 1);
  const other = await postroom.createRoom(ada, 'other');
  // The inbox asks for the room alone.
  await until(inbox, ({ rooms }) => rooms?.some(({ id }) => id === other));
  await inbox.markRead(room);
  await expect.poll(() => onToken.mock.calls.length).toBe(1);
  expect([shown, inbox, presence].map((store) => store.get().failure)).toEqual([undefined, undefined, undefined]);
  expect(client.ends).toEqual([]);
});
