// Runs on SQLite and on PostgreSQL.
import { expect, it } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { scratchName } from '../support/rooms/names.ts';
import { launchForTest, type Person, type Postroom, type ReplyError } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

const server = shareServer();
const isFault = ({ level }: Record<string, unknown>) => Number(level) > 30;

async function deleteRoom(postroom: Postroom, owner: Person, id: string): Promise<void> {
  await postroom.ask('mutation ($id: ID!) { deleteRoom(input: { id: $id }) { room { id } } }', { id }, owner.token);
}

it('a room that is deleted while its events are delivered ends their stream, and is not reported as a server error', async () => {
  const { postroom } = server;
  const ada = await postroom.signUp('Ada');
  const query = `subscription ($room: ID!) {
    roomEvents(room: $room) {
      cursor room { name owner { name } } ... on PostCreated { post { author { posts { id } } room { owner { name } } } }
    }
  }`;
  const posts = Array.from(
    { length: 5 },
    (_, index) => `p${index}: createPost(input: { room: $room, title: "p" }) { post { id } }`,
  );
  const mutation = `mutation ($room: ID!) { ${posts} deleteRoom(input: { id: $room }) { room { id } } }`;
  for (let round = 0; round < 40; round += 1) {
    const room = await postroom.createRoom(ada, scratchName());
    const socket = await ProtocolSocket.open(postroom.webSocketUrl);
    await socket.follow('1', query, { room });
    await postroom.ask(mutation, { room }, ada.token);
    const { payload } = await socket.take(({ type }) => type === 'error');
    expect(payload).toMatchObject([{ extensions: { code: 'ROOM_DELETED' } }]);
    const codes = socket
      .nexts('1')
      .flatMap(({ errors = [] }) => errors.map((error: ReplyError) => error.extensions.code));
    expect(codes.filter((code) => code !== 'ROOM_DELETED')).toEqual([]);
    socket.webSocket.close();
  }
  expect(postroom.log.filter(isFault)).toEqual([]);
});

it('a room that is deleted while it is read is not reported as a server error', async () => {
  const { postroom } = server;
  const other = await launchForTest({ DATABASE_URL: `sqlite:${server.databaseFile}` });
  const ada = await postroom.signUp('Ada');
  const queries = [
    '{ posts(limit: 100) { data { id room { name } } } }',
    'query ($ada: ID!) { user(id: $ada) { posts(last: 100) { author { posts(last: 100) { room { name } } } } } }',
  ];
  let isDone = false;
  const statuses = new Set<number>();
  const reader = async (query: string) => {
    while (!isDone) statuses.add((await postroom.send(query, { ada: ada.id })).status);
  };
  const reading = queries.map(reader);
  for (let round = 0; round < 60; round += 1) {
    const room = await other.createRoom(ada, scratchName());
    await other.createPost(ada, room, 'soon gone');
    await deleteRoom(other, ada, room);
  }
  isDone = true;
  await Promise.all(reading);
  expect(postroom.log.filter(isFault)).toEqual([]);
  expect([...statuses].filter((status) => status >= 500)).toEqual([]);
});
