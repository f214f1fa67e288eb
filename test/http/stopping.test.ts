import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { handshake, postOf, RawConnection } from '../support/clients/http.ts';
import { launchProcessForTest, type Postroom } from '../support/server/postroom.ts';

/** Opens a stream over SSE; resolves when the stream has started. */
async function follow(postroom: Postroom, room: string): Promise<Response> {
  return fetch(postroom.graphqlUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query: `subscription { roomEvents(room: "${room}") { cursor } }` }),
  });
}

it('a server that stops finishes running requests, and answers one more of each connection, whose client cannot have known', async () => {
  const postroom = await launchProcessForTest();
  const room = await postroom.createRoom(await postroom.signUp('Ada'), 'lobby');
  const stream = await follow(postroom, room);
  const [connection, half, neighbour] = [
    await RawConnection.open(postroom),
    await RawConnection.open(postroom),
    await RawConnection.open(postroom),
  ];
  const begun = postOf('{ rooms { data { name } } }');
  connection.send(begun.slice(0, -1));
  half.send(begun.slice(0, 10));
  neighbour.send(postOf('{ __typename }'));
  expect((await neighbour.receive()).status).toBe(200);
  const ended = once(postroom.process, 'exit');
  postroom.process.kill('SIGTERM');
  // The server has begun to stop when the stream ends and the idle connection is closed.
  await stream.text();
  await neighbour.closed();
  connection.send(begun.slice(-1) + postOf(`subscription { roomEvents(room: "${room}") { cursor } }`));
  const finished = await connection.receive();
  expect([finished.status, finished.data]).toEqual([200, { rooms: { data: [{ name: 'lobby' }] } }]);
  expect(finished.headers['connection']).toBe('close');
  expect(await connection.closed()).toBe('');
  half.send(begun.slice(10));
  expect(await half.receive()).toMatchObject({ status: 200, headers: { connection: 'close' } });
  await half.closed();
  expect(await ended).toEqual([0, null]);
  expect(postroom.log).toEqual([]);
});

it.each([
  ['is refused', handshake.replace('/graphql', '/nope')],
  ['has no key', handshake.replace(/Sec-WebSocket-Key: .*\r\n/, '')],
])('a client that reads no answer and then sends a WebSocket upgrade that %s does not prevent the server from stopping', async (_, last) => {
  const postroom = await launchProcessForTest({ RATE_LIMIT: '0' });
  const schema = postOf(
    '{ __schema { types { name description fields { name description args { name type { name } } } } } }',
  );
  const { hostname, port } = new URL(postroom.url);
  const clients = Array.from({ length: 5 }, () =>
    connect({ port: Number(port), host: hostname }).on('error', () => {}),
  );
  onTestFinished(() => clients.forEach((client) => void client.destroy()));
  // The refusal of the last request is queued after unsent answers. Their number is larger for each client.
  for (const [index, client] of clients.entries()) client.pause().write(schema.repeat(40 + 40 * index) + last);
  // The server receives the requests of these clients before it answers this request.
  expect((await postroom.send('{ __typename }')).status).toBe(200);
  const ended = once(postroom.process, 'exit');
  postroom.process.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});
