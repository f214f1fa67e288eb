// Runs on SQLite and on PostgreSQL.
import { expect, it } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { launchForTest } from '../support/server/postroom.ts';
import { statementsDuring } from '../support/server/statements.ts';

it('a lost membership takes one statement for all streams of the room', async () => {
  const postroom = await launchForTest({ LOG_LEVEL: 'debug' });
  const [ada, bob] = [await postroom.signUp('Ada'), await postroom.signUp('Bob')];
  const create = 'mutation { createRoom(input: { name: "den", visibility: PRIVATE }) { room { id } } }';
  const den: string = (await postroom.ask(create, {}, ada.token)).createRoom.room.id;
  const change = (name: string) => `mutation { ${name}(input: { room: "${den}", user: "${bob.id}" }) { room { id } } }`;
  await postroom.ask(change('addRoomMember'), {}, ada.token);
  const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init: { authorization: `Bearer ${bob.token}` } });
  const fields = ['roomEvents', 'postAdded', 'roomPresence', 'roomPresence'];
  const streams = fields.map((field, index) =>
    socket.subscribe(field + index, `subscription { ${field}(room: "${den}") { __typename } }`),
  );
  for (const { results } of streams.slice(2)) await results.take(1);
  await Promise.all(streams.slice(0, 2).map(({ start }) => start));
  const statements = await statementsDuring(postroom, async () => {
    await postroom.ask(change('removeRoomMember'), {}, ada.token);
    for (const { refused } of streams) expect((await refused)[0]?.extensions.code).toBe('MEMBERSHIP_REVOKED');
  });
  expect(statements.filter((sql) => sql.startsWith('select "visibility", "deletedAt", "userId"'))).toHaveLength(1);
});
