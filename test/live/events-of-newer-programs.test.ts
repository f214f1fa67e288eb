// Runs on SQLite and on PostgreSQL.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { InboxStream } from '../support/inbox/inbox-stream.ts';
import { seqOf } from '../support/rooms/cursors.ts';
import { writeUnknownEvent } from '../support/rooms/unknown-event.ts';
import { createProgramWithEvent } from '../support/run/newer-program.ts';
import { launchForTest, launchProcessForTest, scratchFolder } from '../support/server/postroom.ts';
import {
  createPrivateRoom,
  eventsOf,
  follow,
  lastErrorCodeOf,
  launchStreamFixture,
  outcomeOf,
} from '../support/server/stream-fixture.ts';

/* Events of types that this program does not know. */

const fields = '__typename cursor at room { id } actor { id } ... on PostCreated { post { title } }';
const replay = `subscription ($room: ID!, $after: String) { roomEvents(room: $room, after: $after) { ${fields} } }`;
const pinPost = 'mutation ($id: ID!) { pinPost(id: $id) { post { id } } }';

it('after the way back to a program without an event, rooms and inboxes replay it as OtherEvent; a program with it replays it as it is', async () => {
  const settings = { DATABASE_URL: `sqlite:${join(scratchFolder(), 'postroom.db')}` };
  const withEvent = createProgramWithEvent();
  const newer = await launchProcessForTest(settings, withEvent);
  const ada = await newer.signUp('Ada');
  const room = await newer.createRoom(ada, 'hall');
  const start = await newer.cursorOf(room);
  const post = await newer.createPost(ada, room, 'before');
  const { pinPost: pinned } = await newer.ask(pinPost, { id: post }, ada.token);
  expect(pinned.post.id).toBe(post);
  await newer.createPost(ada, room, 'after');
  await newer.stop();

  const older = await launchForTest(settings);
  const socket = await ProtocolSocket.open(older.webSocketUrl);
  const { results } = socket.subscribe('1', replay, { room, after: start });
  const events = (await results.take(3)).map(({ data, errors }) => errors ?? data.roomEvents);
  expect(events.map(({ __typename, post }) => [__typename, post?.title])).toEqual([
    ['PostCreated', 'before'],
    ['OtherEvent', undefined],
    ['PostCreated', 'after'],
  ]);
  expect(events.map(({ cursor }) => seqOf(cursor))).toEqual([2, 3, 4]);
  expect(events[1]).toEqual({ ...events[1], room: { id: room }, actor: { id: ada.id } });
  expect(new Date(events[1].at).getTime()).toBeGreaterThan(new Date(events[0].at).getTime());
  const inbox = await InboxStream.open(older, ada, { after: [start] });
  expect(await inbox.take(3)).toEqual(['PostCreated hall before', 'OtherEvent hall', 'PostCreated hall after']);
  const resumed = socket.subscribe('2', replay, { room, after: events[1].cursor });
  expect((await resumed.results.next()).data.roomEvents).toEqual(events[2]);
  const added = socket.subscribe(
    '3',
    'subscription ($room: ID!, $after: String) { postAdded(room: $room, after: $after) { title } }',
    { room, after: start },
  );
  expect((await added.results.take(2)).map(({ data }) => data.postAdded.title)).toEqual(['before', 'after']);
  await older.stop();

  const again = await launchProcessForTest(settings, withEvent);
  const known = (await ProtocolSocket.open(again.webSocketUrl)).subscribe(
    '1',
    `subscription { roomEvents(room: "${room}", after: "${events[0].cursor}") { cursor ... on PostPinned { post { title } } } }`,
  );
  expect((await known.results.next()).data.roomEvents).toEqual({ cursor: events[1].cursor, post: { title: 'before' } });
});

it('a viewer who loses access to a room with an unknown event does not receive it; all others do', async () => {
  const fixture = await launchStreamFixture();
  const { file, postroom, ada, owner } = fixture;
  const room = await createPrivateRoom(fixture, [ada.id]);
  const leaving = await follow(postroom, room, `Bearer ${ada.token}`);
  const staying = await follow(postroom, room, `Bearer ${owner.token}`);
  writeUnknownEvent(file, { room, actor: owner.id, leaver: ada.id });
  await postroom.createPost(owner, room, 'after');
  for (const socket of leaving.sockets) {
    expect(await outcomeOf(socket)).toBe('MEMBERSHIP_REVOKED');
    expect(socket.nexts('e')).toEqual([]);
  }
  for (const stream of leaving.streams) {
    expect(await lastErrorCodeOf(stream)).toBe('MEMBERSHIP_REVOKED');
    expect(eventsOf(stream)).toEqual([]);
  }
  for (const socket of staying.sockets) {
    await socket.take(({ payload }) => payload?.data?.roomEvents.__typename === 'PostCreated');
    expect(socket.nexts('e').map(({ data }) => data.roomEvents.__typename)).toEqual(['OtherEvent', 'PostCreated']);
  }
});
