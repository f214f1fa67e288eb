// Runs on PostgreSQL.
import { describe, expect, it } from 'vitest';
import { EventStream } from '../support/clients/event-stream.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { newSessionKey } from '../support/database/test-database.ts';
import { InboxStream } from '../support/inbox/inbox-stream.ts';
import { seqOf } from '../support/rooms/cursors.ts';
import { createProgramWithEvent } from '../support/run/newer-program.ts';
import { postgresBus, useBackends } from '../support/server/backends.ts';
import { launchForTest, launchProcessForTest } from '../support/server/postroom.ts';

/* A node of this program beside one of a newer program, which has one more event. */

const backends = useBackends();
const pinPost = 'mutation ($id: ID!) { pinPost(id: $id) { post { id } } }';

describe.skipIf(postgresBus.isMissing)(`over ${postgresBus.name}`, () => {
  it('during an upgrade the old node delivers an event that it does not know as OtherEvent, without a gap, and starts new streams', async () => {
    const { cluster } = backends;
    const settings = { DATABASE_URL: cluster.url(await cluster.createDatabase()), SESSION_KEY: newSessionKey() };
    const older = await launchForTest(settings);
    const ada = await older.signUp('Ada');
    const room = await older.createRoom(ada, 'hall');
    const start = await older.cursorOf(room);
    const newer = await launchProcessForTest(settings, createProgramWithEvent());
    const query = (after = '') =>
      `subscription { roomEvents(room: "${room}"${after}) { __typename cursor actor { name } } }`;
    const socket = await ProtocolSocket.open(older.webSocketUrl);
    await socket.follow('room', query());
    const stream = await EventStream.open(older.graphqlUrl, query());
    const inbox = await InboxStream.open(older, ada);

    const first = await older.createPost(ada, room, 'by the older');
    await newer.ask(pinPost, { id: first }, ada.token);
    await newer.createPost(ada, room, 'by the newer');
    await newer.ask(pinPost, { id: first }, ada.token);
    await older.createPost(ada, room, 'last');
    const types = ['PostCreated', 'OtherEvent', 'PostCreated', 'OtherEvent', 'PostCreated'];
    expect((await inbox.take(5)).map((event) => event.split(' ')[0])).toEqual(types);
    const late = socket.subscribe('late', query(`, after: "${start}"`));
    const expected = types.map((__typename, index) => ({ __typename, seq: seqOf(start) + index + 1, name: 'Ada' }));
    // biome-ignore lint/suspicious/noExplicitAny: its shape is the subscription's.
    const read = ({ data }: any) => {
      const { __typename, cursor, actor } = data.roomEvents;
      return { __typename, seq: seqOf(cursor), name: actor.name };
    };
    expect((await late.results.take(5)).map(read)).toEqual(expected);
    await expect.poll(() => socket.nexts('room').length).toBe(5);
    expect(socket.nexts('room').map(read)).toEqual(expected);
    const next = () => stream.received.flatMap(({ data }) => (data?.data ? [data] : []));
    await expect.poll(() => next().length).toBe(5);
    expect(next().map(read)).toEqual(expected);

    // The newer node knows the type, and resumes from the cursor of an event that the older one has delivered.
    const known = (await ProtocolSocket.open(newer.webSocketUrl)).subscribe('1', query(`, after: "${start}"`));
    expect((await known.results.take(5)).map(({ data }) => data.roomEvents.__typename)).toEqual(
      types.map((type) => (type === 'OtherEvent' ? 'PostPinned' : type)),
    );
  });
});
