import { expect, it } from 'vitest';
import { change, InboxStream } from './support/inbox-stream.ts';
import { launchForTest, type Person, type Postroom } from './support/postroom.ts';

interface Fixture {
  postroom: Postroom;
  ada: Person;
  bob: Person;
  /** Rooms of Ada. */
  hall: string;
  attic: string;
}

/** Bob is a member of the hall, and not of the attic. */
async function open(): Promise<Fixture> {
  const postroom = await launchForTest();
  const [ada, bob] = [await postroom.signUp('Ada'), await postroom.signUp('Bob')];
  const [hall, attic] = [await postroom.createRoom(ada, 'hall'), await postroom.createRoom(ada, 'attic')];
  await change(postroom, 'joinRoom', bob, hall);
  return { postroom, ada, bob, hall, attic };
}

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

it('a room that the viewer creates enters with its first event', async () => {
  const { postroom, bob } = await open();
  const inbox = await InboxStream.open(postroom, bob);
  const shed = await postroom.createRoom(bob, 'shed');
  await postroom.createPost(bob, shed, 'first');
  expect(await inbox.take(1)).toEqual(['PostCreated shed first']);
});

it('a room that the viewer leaves ends with the MemberLeft of the viewer', async () => {
  const { postroom, ada, bob, hall, attic } = await open();
  await change(postroom, 'joinRoom', bob, attic);
  const inbox = await InboxStream.open(postroom, bob);
  await change(postroom, 'leaveRoom', bob, hall);
  await postroom.createPost(ada, hall, 'unseen');
  await postroom.createPost(ada, attic, 'seen');
  expect(await inbox.take(2)).toEqual(['MemberLeft hall', 'PostCreated attic seen']);
  await change(postroom, 'joinRoom', bob, hall);
  await postroom.createPost(ada, hall, 'again');
  expect(await inbox.take(2)).toEqual(['MemberJoined hall', 'PostCreated hall again']);
});

it('a room that is deleted ends with RoomDeleted, with the room as it was', async () => {
  const { postroom, ada, bob, hall } = await open();
  const inbox = await InboxStream.open(postroom, bob);
  await change(postroom, 'deleteRoom', ada, hall);
  const shed = await postroom.createRoom(bob, 'shed');
  const event = await inbox.next();
  expect(event).toMatchObject({ __typename: 'RoomDeleted', room: { id: hall, name: 'hall' }, actor: { id: ada.id } });
  await postroom.createPost(bob, shed, 'first');
  expect(await inbox.take(1)).toEqual(['PostCreated shed first']);
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
