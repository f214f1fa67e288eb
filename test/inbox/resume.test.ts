// Runs on SQLite and on PostgreSQL.
import { expect, it } from 'vitest';
import { EventStream, streamForms } from '../support/clients/event-stream.ts';
import { type InboxFixture, openInboxFixture } from '../support/inbox/inbox-fixture.ts';
import { change, InboxStream, inboxQuery, refusalOf } from '../support/inbox/inbox-stream.ts';
import { forgeCursor, openCursor } from '../support/rooms/cursors.ts';

/** The inbox of Bob after he has received one event of each room and closed it. */
async function openAndLeave({ postroom, ada, bob, hall, attic }: InboxFixture): Promise<InboxStream> {
  const inbox = await InboxStream.open(postroom, bob);
  await postroom.createPost(ada, hall, 'one');
  await postroom.createPost(ada, attic, 'one');
  await inbox.take(2);
  await inbox.close();
  return inbox;
}

it.each(['after', 'a map in live.seen', 'a list in live.seen'])('an inbox resumes each room by %s', async (way) => {
  const fixture = await openInboxFixture();
  const { postroom, ada, bob, hall, attic } = fixture;
  const { cursors } = await openAndLeave(fixture);
  await postroom.createPost(ada, hall, 'two');
  await postroom.createPost(ada, attic, 'two');
  await postroom.createPost(ada, attic, 'three');
  const list = Object.values(cursors);
  const options = { after: { after: list }, 'a map in live.seen': { seen: cursors } }[way] ?? { seen: list };
  const inbox = await InboxStream.open(postroom, bob, options);
  expect(inbox.cursors).toEqual(cursors);
  await postroom.createPost(ada, hall, 'live');
  const events = (await inbox.take(4)).map((event) => event.replace('PostCreated ', ''));
  expect(events.filter((event) => event.startsWith('hall'))).toEqual(['hall two', 'hall live']);
  expect(events.filter((event) => event.startsWith('attic'))).toEqual(['attic two', 'attic three']);
});

it.each([
  'map',
  'list',
])('a null in a %s in live.seen is a room without a cursor, and the other rooms resume', async (form) => {
  const fixture = await openInboxFixture();
  const { postroom, ada, bob, hall, attic } = fixture;
  const { cursors } = await openAndLeave(fixture);
  await postroom.createPost(ada, hall, 'two');
  const seen = form === 'map' ? { ...cursors, [attic]: null } : [null, cursors[hall]];
  const inbox = await InboxStream.open(postroom, bob, { seen });
  const events = await inbox.take(3);
  expect(events.filter((event) => event.includes('hall'))).toEqual(['PostCreated hall two']);
  expect(events.filter((event) => event.includes('attic'))).toEqual(['MemberJoined attic', 'PostCreated attic one']);
});

it('live.seen takes precedence over after', async () => {
  const fixture = await openInboxFixture();
  const { postroom, ada, bob, hall } = fixture;
  const { cursors } = await openAndLeave(fixture);
  await postroom.createPost(ada, hall, 'two');
  const later = { ...cursors, [hall]: await postroom.cursorOf(hall) };
  const inbox = await InboxStream.open(postroom, bob, { after: Object.values(cursors), seen: later });
  await postroom.createPost(ada, hall, 'three');
  expect(await inbox.take(1)).toEqual(['PostCreated hall three']);
});

it('of two cursors of one room the later counts', async () => {
  const fixture = await openInboxFixture();
  const { postroom, ada, bob, hall } = fixture;
  const { cursors } = await openAndLeave(fixture);
  await postroom.createPost(ada, hall, 'two');
  const later = await postroom.cursorOf(hall);
  await postroom.createPost(ada, hall, 'three');
  for (const after of [
    [later, ...Object.values(cursors)],
    [...Object.values(cursors), later],
  ]) {
    const inbox = await InboxStream.open(postroom, bob, { after });
    expect(await inbox.take(1)).toEqual(['PostCreated hall three']);
  }
});

it('a room that was joined while the client was away starts with the MemberJoined of the viewer', async () => {
  const fixture = await openInboxFixture();
  const { postroom, ada, bob } = fixture;
  const { cursors } = await openAndLeave(fixture);
  const shed = await postroom.createRoom(ada, 'shed');
  await postroom.createPost(ada, shed, 'before');
  await change(postroom, 'joinRoom', bob, shed);
  await postroom.createPost(ada, shed, 'after');
  const inbox = await InboxStream.open(postroom, bob, { seen: cursors });
  expect(await inbox.take(2)).toEqual(['MemberJoined shed', 'PostCreated shed after']);
});

it('a room whose MemberJoined is no longer in the log starts with the oldest event that is', async () => {
  const { postroom, ada, bob, hall, attic } = await openInboxFixture({ settings: { EVENT_RETENTION_COUNT: '2' } });
  for (const title of ['one', 'two', 'three']) await postroom.createPost(ada, hall, title);
  const inbox = await InboxStream.open(postroom, bob, { after: [await postroom.cursorOf(attic)] });
  expect(await inbox.take(2)).toEqual(['PostCreated hall two', 'PostCreated hall three']);
});

it('an inbox that was empty resumes with the rooms that were joined since', async () => {
  const { postroom, ada, hall } = await openInboxFixture();
  const carol = await postroom.signUp('Carol');
  const inbox = await InboxStream.open(postroom, carol);
  expect(inbox.cursors).toEqual({});
  await inbox.close();
  await change(postroom, 'joinRoom', carol, hall);
  await postroom.createPost(ada, hall, 'one');
  const resumed = await InboxStream.open(postroom, carol, { seen: inbox.cursors });
  expect(await resumed.take(2)).toEqual(['MemberJoined hall', 'PostCreated hall one']);
});

it('rooms that were left or deleted while the client was away end in the inbox, also without a cursor of the user', async () => {
  const fixture = await openInboxFixture();
  const { postroom, ada, bob, hall, attic } = fixture;
  const { cursors } = await openAndLeave(fixture);
  const shed = await postroom.createRoom(bob, 'shed');
  await change(postroom, 'leaveRoom', bob, hall);
  await change(postroom, 'deleteRoom', ada, attic);
  await postroom.createPost(bob, shed, 'one');
  const inbox = await InboxStream.open(postroom, bob, { seen: cursors });
  const events = await inbox.take(4);
  expect(events.filter((event) => event.includes('shed'))).toEqual(['MemberJoined shed', 'PostCreated shed one']);
  expect(events.filter((event) => !event.includes('shed'))).toEqual(['MemberLeft hall', 'RoomDeleted deleted room']);
});

it('a cursor of a public room that the viewer never belonged to is CURSOR_INVALID; a private room does not exist', async () => {
  const { postroom, ada, bob } = await openInboxFixture();
  const createRoom = async (visibility: string) => {
    const input = `{ name: "room ${visibility}", visibility: ${visibility} }`;
    const query = `mutation { createRoom(input: ${input}) { room { cursor } } }`;
    return (await postroom.ask(query, {}, ada.token)).createRoom.room.cursor;
  };
  const invalid = [await createRoom('PUBLIC'), 'garbage'];
  for (const cursor of invalid) {
    expect((await refusalOf(postroom, bob, { after: [cursor] })).extensions.code).toBe('CURSOR_INVALID');
  }
  const hidden = await createRoom('PRIVATE');
  expect(Object.keys((await InboxStream.open(postroom, bob, { after: [hidden] })).cursors)).toHaveLength(2);
});

it('a cursor that has expired is CURSOR_EXPIRED, with its room and the present cursors of all rooms', async () => {
  const fixture = await openInboxFixture();
  const { postroom, ada, bob, hall, attic } = fixture;
  const { cursors } = await openAndLeave(fixture);
  const { mark, seq } = openCursor(cursors[hall] ?? '');
  const lost = forgeCursor(mark === '00000001' ? '00000002' : '00000001', seq, hall);
  await postroom.createPost(ada, attic, 'two');
  const { code, live } = (await refusalOf(postroom, bob, { seen: { ...cursors, [hall]: lost } })).extensions;
  const present = {
    [hall]: await postroom.cursorOf(hall),
    [attic]: await postroom.cursorOf(attic),
    [bob.id]: expect.any(String),
  };
  expect({ code, live }).toEqual({ code: 'CURSOR_EXPIRED', live: { room: hall, cursors: present } });
  const inbox = await InboxStream.open(postroom, bob, { seen: { ...cursors, [hall]: live?.cursors[hall] } });
  expect(await inbox.take(1)).toEqual(['PostCreated attic two']);
});

it.each(streamForms)('an inbox as an event stream ignores Last-Event-ID, which is one cursor (%s)', async (_, form) => {
  const fixture = await openInboxFixture();
  const { postroom, ada, bob, hall, attic } = fixture;
  const { cursors } = await openAndLeave(fixture);
  await postroom.createPost(ada, hall, 'two');
  const headers = { ...form, authorization: `Bearer ${bob.token}`, 'last-event-id': cursors[hall] ?? '' };
  const variables = { after: Object.values(cursors) };
  const stream = await EventStream.open(postroom.graphqlUrl, inboxQuery, headers, variables);
  await postroom.createPost(ada, attic, 'two');
  const results = await stream.results.take(2);
  expect(results.map(({ data }) => `${data.inbox.room.name} ${data.inbox.post?.title}`).toSorted()).toEqual([
    'attic two',
    'hall two',
  ]);
});

it('an event stream resumes by after', async () => {
  const fixture = await openInboxFixture();
  const { postroom, ada, bob, hall } = fixture;
  const { cursors } = await openAndLeave(fixture);
  await postroom.createPost(ada, hall, 'two');
  const request = { query: inboxQuery, variables: { after: Object.values(cursors) } };
  const headers = { authorization: `Bearer ${bob.token}` };
  const stream = await EventStream.open(postroom.graphqlUrl, request, headers);
  expect(await stream.results.next()).toMatchObject({ data: { inbox: { post: { title: 'two' } } } });
  expect(stream.received.map(({ id }) => id)).toEqual(stream.received.map(() => undefined));
});
