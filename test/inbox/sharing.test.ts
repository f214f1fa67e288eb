import { expect, it } from 'vitest';
import { readMetrics } from '../support/engine/metrics.ts';
import { openInboxFixture } from '../support/inbox/inbox-fixture.ts';
import { change, InboxStream } from '../support/inbox/inbox-stream.ts';
import type { Postroom } from '../support/server/postroom.ts';

async function executionsOf(postroom: Postroom): Promise<number> {
  return (await readMetrics(postroom))['event_executions_total'] ?? 0;
}

it('an event is executed once for the inboxes of all viewers that select the same, whatever their other rooms are', async () => {
  const { postroom, ada, bob, hall } = await openInboxFixture();
  const carol = await postroom.signUp('Carol');
  await change(postroom, 'joinRoom', carol, hall);
  await postroom.createRoom(carol, 'shed');
  const inboxes = [];
  for (const person of [ada, bob, bob, carol]) inboxes.push(await InboxStream.open(postroom, person));
  const before = await executionsOf(postroom);
  await postroom.createPost(ada, hall, 'one');
  for (const inbox of inboxes) expect(await inbox.take(1)).toEqual(['PostCreated hall one']);
  expect(await executionsOf(postroom)).toBe(before + 1);
});

it('inboxes that resume together share the executions of the events that they missed', async () => {
  const { postroom, ada, bob, hall, attic } = await openInboxFixture();
  const first = await InboxStream.open(postroom, bob);
  const { cursors } = first;
  await first.close();
  for (const room of [hall, attic]) await postroom.createPost(ada, room, 'missed');
  const before = await executionsOf(postroom);
  const resumed = await Promise.all([1, 2, 3].map(() => InboxStream.open(postroom, bob, { seen: cursors })));
  for (const inbox of resumed) {
    expect((await inbox.take(2)).sort()).toEqual(['PostCreated attic missed', 'PostCreated hall missed']);
  }
  expect(await executionsOf(postroom)).toBe(before + 2);
});

it('a selection that depends on the viewer is executed for each viewer', async () => {
  const { postroom, ada, bob, hall, attic } = await openInboxFixture();
  const query = `subscription { inbox { __typename cursor room { id name viewerRole unread }
    ... on PostCreated { post { title } } } }`;
  const [ofAda, ofBob] = [
    await InboxStream.open(postroom, ada, { query }),
    await InboxStream.open(postroom, bob, { query }),
  ];
  for (const room of [hall, attic, hall]) {
    await postroom.createPost(ada, room, 'one');
    expect((await ofAda.next()).room).toMatchObject({ id: room, viewerRole: 'OWNER', unread: 0 });
    expect((await ofBob.next()).room).toMatchObject({ id: room, viewerRole: 'MEMBER' });
  }
});
