// Runs on SQLite and on PostgreSQL.
import { expect, it } from 'vitest';
import { type InboxFixture, openInboxFixture } from '../support/inbox/inbox-fixture.ts';
import { change, InboxStream } from '../support/inbox/inbox-stream.ts';

/* What happens to a user while the client is away is an event in the user's log, after whose cursor the client resumes. */

/** The inbox of Bob, live and then closed. */
async function openAndClose({ postroom, bob }: InboxFixture): Promise<InboxStream> {
  const inbox = await InboxStream.open(postroom, bob);
  await inbox.close();
  return inbox;
}

const setMember = (
  { postroom, ada, bob }: InboxFixture,
  field: 'addRoomMember' | 'removeRoomMember',
  room: string,
): Promise<unknown> =>
  postroom.ask(`mutation { ${field}(input: { room: "${room}", user: "${bob.id}" }) { room { id } } }`, {}, ada.token);

const createPrivate = async ({ postroom, ada }: InboxFixture, name: string): Promise<string> => {
  const query = `mutation { createRoom(input: { name: "${name}", visibility: PRIVATE }) { room { id } } }`;
  return (await postroom.ask(query, {}, ada.token)).createRoom.room.id;
};

/** The next events that are not posts about `live`, which shows that no further one follows. */
async function takeAll(fixture: InboxFixture, inbox: InboxStream): Promise<string[]> {
  const { postroom, bob } = fixture;
  await change(postroom, 'markRead', bob, await postroom.createRoom(bob, 'last'));
  const events: string[] = [];
  for (;;) {
    const [event = ''] = await inbox.take(1);
    if (event === 'MemberJoined last') return events;
    events.push(event);
  }
}

it('a public room that the user left sends all events up to the MemberLeft', async () => {
  const fixture = await openInboxFixture();
  const { postroom, ada, bob, hall } = fixture;
  const { seen } = await openAndClose(fixture);
  for (const title of ['one', 'two']) await postroom.createPost(ada, hall, title);
  await change(postroom, 'leaveRoom', bob, hall);
  await postroom.createPost(ada, hall, 'after');
  const inbox = await InboxStream.open(postroom, bob, { seen });
  expect(await takeAll(fixture, inbox)).toEqual(['PostCreated hall one', 'PostCreated hall two', 'MemberLeft hall']);
  expect(Object.keys(inbox.seen)).not.toContain(hall);
});

it('a private room that the user lost sends the MemberLeft, with `gap` if events before it were left out', async () => {
  const fixture = await openInboxFixture();
  const { postroom, ada, bob } = fixture;
  const rooms = [await createPrivate(fixture, 'den'), await createPrivate(fixture, 'lab')];
  for (const room of rooms) await setMember(fixture, 'addRoomMember', room);
  const { seen } = await openAndClose(fixture);
  const [den = '', lab = ''] = rooms;
  await postroom.createPost(ada, den, 'secret');
  for (const room of [den, lab]) await setMember(fixture, 'removeRoomMember', room);
  const query = `subscription ($after: [String!]) { inbox(after: $after) { __typename room {
    id name owner { id } posts(last: 3) { nodes { title } } members(first: 3) { nodes { id } } presence { count }
  } } }`;
  const inbox = await InboxStream.open(postroom, bob, { seen, query });
  const events = [await inbox.next(), await inbox.next()];
  // Nothing of the room is shown to its former member.
  const closed = {
    name: 'private room',
    owner: null,
    posts: { nodes: [] },
    members: { nodes: [] },
    presence: { count: 0 },
  };
  expect(events).toEqual([
    { __typename: 'MemberLeft', room: { id: den, ...closed }, gap: true },
    { __typename: 'MemberLeft', room: { id: lab, ...closed } },
  ]);
  expect(await takeAll(fixture, inbox)).toEqual([]);
});

it('a private room that the user joined, read and lost while the client was away sends its MemberLeft', async () => {
  const fixture = await openInboxFixture();
  const { postroom, ada, bob } = fixture;
  const den = await createPrivate(fixture, 'den');
  const { seen } = await openAndClose(fixture);
  await setMember(fixture, 'addRoomMember', den);
  await postroom.createPost(ada, den, 'read elsewhere');
  await change(postroom, 'markRead', bob, den);
  await setMember(fixture, 'removeRoomMember', den);
  const inbox = await InboxStream.open(postroom, bob, { seen });
  expect(await takeAll(fixture, inbox)).toEqual(['MemberLeft private room']);
});

it('a deleted room sends RoomDeleted, with a room of which only the id is left', async () => {
  const fixture = await openInboxFixture();
  const { postroom, ada, bob, hall } = fixture;
  const { seen } = await openAndClose(fixture);
  await postroom.createPost(ada, hall, 'lost with the room');
  await change(postroom, 'deleteRoom', ada, hall);
  const query = `subscription { inbox { __typename cursor actor { id } room {
    id name visibility createdAt version unread viewerRole owner { id } posts { nodes { id } } members { nodes { id } }
  } } }`;
  const inbox = await InboxStream.open(postroom, bob, { seen, query });
  const { cursor, ...event } = await inbox.next();
  expect(event).toMatchObject({
    __typename: 'RoomDeleted',
    actor: null,
    room: { id: hall, name: 'deleted room', visibility: 'PRIVATE', unread: null, owner: null, posts: { nodes: [] } },
  });
  expect(cursor).toBe(seen[hall]);
  expect(Object.keys(inbox.seen)).not.toContain(hall);
});

it('a room that is still being deleted sends RoomDeleted when the membership of the user is deleted', async () => {
  const fixture = await openInboxFixture();
  const { postroom, ada, bob, hall } = fixture;
  const { seen } = await openAndClose(fixture);
  // More rows than are deleted at once.
  for (let count = 0; count < 120; count += 1) await postroom.createPost(ada, hall, `${count}`);
  await change(postroom, 'deleteRoom', ada, hall);
  const inbox = await InboxStream.open(postroom, bob, { seen });
  expect(await inbox.take(1)).toEqual(['RoomDeleted deleted room']);
});

it('a membership that began and ended arrives', async () => {
  const fixture = await openInboxFixture();
  const { postroom, ada, bob } = fixture;
  const { seen } = await openAndClose(fixture);
  const shed = await postroom.createRoom(ada, 'shed');
  const den = await createPrivate(fixture, 'den');
  await change(postroom, 'joinRoom', bob, shed);
  await postroom.createPost(ada, shed, 'one');
  await change(postroom, 'leaveRoom', bob, shed);
  await setMember(fixture, 'addRoomMember', den);
  await setMember(fixture, 'removeRoomMember', den);
  const inbox = await InboxStream.open(postroom, bob, { seen });
  expect(await takeAll(fixture, inbox)).toEqual([
    'MemberJoined shed',
    'PostCreated shed one',
    'MemberLeft shed',
    'MemberLeft private room',
  ]);
});

it('each of several memberships of a room arrives', async () => {
  const fixture = await openInboxFixture();
  const { postroom, ada, bob, hall } = fixture;
  const { seen } = await openAndClose(fixture);
  for (const title of ['one', 'two']) {
    await postroom.createPost(ada, hall, title);
    await change(postroom, 'leaveRoom', bob, hall);
    await postroom.createPost(ada, hall, `no member after ${title}`);
    await change(postroom, 'joinRoom', bob, hall);
  }
  const inbox = await InboxStream.open(postroom, bob, { seen });
  expect(await takeAll(fixture, inbox)).toEqual([
    'PostCreated hall one',
    'MemberLeft hall',
    'MemberJoined hall',
    'PostCreated hall two',
    'MemberLeft hall',
    'MemberJoined hall',
  ]);
});

it('events of the user before the cursor of a room are not sent again', async () => {
  const fixture = await openInboxFixture();
  const { postroom, ada, bob, hall } = fixture;
  const { seen } = await openAndClose(fixture);
  await change(postroom, 'leaveRoom', bob, hall);
  await change(postroom, 'joinRoom', bob, hall);
  const present = await postroom.cursorOf(hall);
  await postroom.createPost(ada, hall, 'new');
  const inbox = await InboxStream.open(postroom, bob, { seen: { ...seen, [hall]: present } });
  expect(await takeAll(fixture, inbox)).toEqual(['PostCreated hall new']);
});

it('without a cursor of the user, a room without a cursor sends its present membership alone', async () => {
  const fixture = await openInboxFixture();
  const { postroom, ada, bob, hall, attic } = fixture;
  const { cursors } = await openAndClose(fixture);
  const shed = await postroom.createRoom(ada, 'shed');
  await change(postroom, 'leaveRoom', bob, hall);
  for (const name of ['joinRoom', 'leaveRoom', 'joinRoom'] as const) await change(postroom, name, bob, shed);
  const inbox = await InboxStream.open(postroom, bob, { seen: cursors });
  expect((await takeAll(fixture, inbox)).toSorted()).toEqual(['MemberJoined shed', 'MemberLeft hall']);
  expect(Object.keys(cursors).sort()).toEqual([hall, attic].sort());
});

it('each RoomRead arrives once', async () => {
  const fixture = await openInboxFixture();
  const { postroom, ada, bob, hall, attic } = fixture;
  const { seen } = await openAndClose(fixture);
  for (const room of [hall, attic, hall]) {
    await postroom.createPost(ada, room, 'new');
    await change(postroom, 'markRead', bob, room);
  }
  const inbox = await InboxStream.open(postroom, bob, { seen });
  const events = (await takeAll(fixture, inbox)).filter((event) => event.startsWith('RoomRead'));
  expect(events).toEqual(['RoomRead hall', 'RoomRead attic', 'RoomRead hall']);
  await inbox.close();
  const again = await InboxStream.open(postroom, bob, { seen: inbox.seen });
  await postroom.createPost(ada, hall, 'live');
  expect(await again.take(1)).toEqual(['PostCreated hall live']);
});

it('a client that resumes again from an earlier position receives the same', async () => {
  const fixture = await openInboxFixture();
  const { postroom, ada, bob, hall } = fixture;
  const { seen } = await openAndClose(fixture);
  const shed = await postroom.createRoom(ada, 'shed');
  await change(postroom, 'joinRoom', bob, shed);
  await change(postroom, 'leaveRoom', bob, hall);
  for (const _ of [1, 2]) {
    const inbox = await InboxStream.open(postroom, bob, { seen });
    expect((await inbox.take(2)).toSorted()).toEqual(['MemberJoined shed', 'MemberLeft hall']);
    await inbox.close();
  }
});

it('a client that has received the end of a room does not receive it again', async () => {
  const fixture = await openInboxFixture();
  const { postroom, ada, bob, hall, attic } = fixture;
  const inbox = await InboxStream.open(postroom, bob);
  await change(postroom, 'leaveRoom', bob, hall);
  await change(postroom, 'deleteRoom', ada, attic);
  expect(await inbox.take(2)).toEqual(['MemberLeft hall', 'RoomDeleted attic']);
  await inbox.close();
  const resumed = await InboxStream.open(postroom, bob, { seen: inbox.seen });
  expect(resumed.cursors).toEqual({});
  expect(await takeAll(fixture, resumed)).toEqual([]);
});

it('a cursor of the user that has expired is CURSOR_EXPIRED, with the present cursors', async () => {
  const fixture = await openInboxFixture();
  const { postroom, bob, hall, attic } = fixture;
  const { seen } = await openAndClose(fixture);
  const lost = Buffer.from(`00000001.2.${bob.id}`).toString('base64url');
  const refused = InboxStream.open(postroom, bob, { seen: { ...seen, [bob.id]: lost } });
  const error = await refused.then(
    () => undefined,
    (error) => error.first,
  );
  expect(error.extensions.code).toBe('CURSOR_EXPIRED');
  expect(Object.keys(error.extensions.live.cursors).sort()).toEqual([hall, attic, bob.id].sort());
  await InboxStream.open(postroom, bob, { seen: error.extensions.live.cursors });
});

it('the other devices of a user receive the MemberJoined of a room that the user creates', async () => {
  const fixture = await openInboxFixture();
  const { postroom, bob } = fixture;
  const devices = [await InboxStream.open(postroom, bob), await InboxStream.open(postroom, bob)];
  await postroom.createRoom(bob, 'new');
  for (const device of devices) expect(await device.take(1)).toEqual(['MemberJoined new']);
});
