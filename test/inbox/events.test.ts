// Runs on SQLite and on PostgreSQL.
import { expect, it } from 'vitest';
import { openInboxFixture } from '../support/inbox/inbox-fixture.ts';
import { change, InboxStream } from '../support/inbox/inbox-stream.ts';

/** Bob is a member of the hall, and not of the attic. */
const open = () => openInboxFixture({ joined: ['hall'] });

it('an inbox receives the events of all rooms of its viewer, and of no other room', async () => {
  const { postroom, ada, bob, hall, attic } = await open();
  const [ofAda, ofBob] = [await InboxStream.open(postroom, ada), await InboxStream.open(postroom, bob)];
  expect(Object.keys(ofAda.cursors).sort()).toEqual([hall, attic].sort());
  expect(Object.keys(ofBob.cursors)).toEqual([hall]);
  await postroom.createPost(ada, attic, 'one');
  await postroom.createPost(bob, hall, 'two');
  expect(await ofAda.take(2)).toEqual(['PostCreated attic one', 'PostCreated hall two']);
  expect(await ofBob.take(1)).toEqual(['PostCreated hall two']);
});

it('a message has its room and its cursor in its extensions', async () => {
  const { postroom, ada, hall } = await open();
  const inbox = await InboxStream.open(postroom, ada);
  await postroom.createPost(ada, hall, 'one');
  const { cursor } = await inbox.next();
  expect(inbox.cursors[hall]).toBe(cursor);
  expect(cursor).toBe(await postroom.cursorOf(hall));
});

it('a room that the viewer joins enters with the MemberJoined of the viewer', async () => {
  const { postroom, ada, bob, attic } = await open();
  await postroom.createPost(ada, attic, 'before');
  const inbox = await InboxStream.open(postroom, bob);
  await change(postroom, 'joinRoom', bob, attic);
  await postroom.createPost(ada, attic, 'after');
  expect(await inbox.take(2)).toEqual(['MemberJoined attic', 'PostCreated attic after']);
});

it.each([
  'PUBLIC',
  'PRIVATE',
])('a %s room that the viewer creates enters with the MemberJoined of the viewer, on each device', async (visibility) => {
  const { postroom, ada, bob } = await open();
  const [phone, laptop] = [await InboxStream.open(postroom, bob), await InboxStream.open(postroom, bob)];
  const ofAda = await InboxStream.open(postroom, ada);
  await laptop.close();
  const create = `mutation { createRoom(input: { name: "shed", visibility: ${visibility} }) { room { id cursor } } }`;
  const { room } = (await postroom.ask(create, {}, bob.token)).createRoom;
  expect(await phone.take(1)).toEqual(['MemberJoined shed']);
  expect(phone.cursors[room.id]).toBe(room.cursor);
  const back = await InboxStream.open(postroom, bob, { seen: laptop.cursors });
  expect(await back.take(1)).toEqual(['MemberJoined shed']);
  await postroom.createPost(bob, room.id, 'first');
  for (const inbox of [phone, back]) expect(await inbox.take(1)).toEqual(['PostCreated shed first']);
  const hall = await postroom.createRoom(ada, 'seen');
  await postroom.createPost(ada, hall, 'own');
  expect(await ofAda.take(2)).toEqual(['MemberJoined seen', 'PostCreated seen own']);
});

it('a room that the viewer leaves ends with the MemberLeft of the viewer', async () => {
  const { postroom, ada, bob, hall, attic } = await open();
  await change(postroom, 'joinRoom', bob, attic);
  const inbox = await InboxStream.open(postroom, bob);
  await change(postroom, 'leaveRoom', bob, hall);
  await postroom.createPost(ada, hall, 'unseen');
  await postroom.createPost(ada, attic, 'seen');
  // Rooms do not wait for each other.
  expect((await inbox.take(2)).sort()).toEqual(['MemberLeft hall', 'PostCreated attic seen']);
  await change(postroom, 'joinRoom', bob, hall);
  await postroom.createPost(ada, hall, 'again');
  expect(await inbox.take(2)).toEqual(['MemberJoined hall', 'PostCreated hall again']);
});

it('a room that is deleted ends with RoomDeleted, with the room as it was', async () => {
  const { postroom, ada, bob, hall } = await open();
  const inbox = await InboxStream.open(postroom, bob);
  await change(postroom, 'deleteRoom', ada, hall);
  const event = await inbox.next();
  expect(event).toMatchObject({ __typename: 'RoomDeleted', room: { id: hall, name: 'hall' }, actor: { id: ada.id } });
  await postroom.createRoom(bob, 'shed');
  expect(await inbox.take(1)).toEqual(['MemberJoined shed']);
});

it('a mark of the viewer arrives as RoomRead with the last cursor of its room, and only in the inboxes of the viewer', async () => {
  const { postroom, ada, bob, hall } = await open();
  const [ofAda, ofBob] = [await InboxStream.open(postroom, ada), await InboxStream.open(postroom, bob)];
  await postroom.createPost(ada, hall, 'one');
  await change(postroom, 'markRead', bob, hall);
  expect(await ofBob.take(2)).toEqual(['PostCreated hall one', 'RoomRead hall']);
  expect(ofBob.cursors[hall]).toBe(await postroom.cursorOf(hall));
  await postroom.createPost(ada, hall, 'two');
  expect(await ofAda.take(2)).toEqual(['PostCreated hall one', 'PostCreated hall two']);
});

it('an inbox needs credentials', async () => {
  const { postroom } = await open();
  const { code, status } = await postroom.send('subscription { inbox { cursor } }');
  expect([code, status]).toEqual(['NOT_ACCEPTABLE', 406]);
  const response = await fetch(postroom.graphqlUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query: 'subscription { inbox { cursor } }' }),
  });
  expect(response.status).toBe(401);
  expect(await response.text()).toContain('UNAUTHENTICATED');
});
