import { once } from 'node:events';
import { expect, it } from 'vitest';
import { graphqlResponse, RawConnection } from './support/http.ts';
import { launchForTest, type Postroom } from './support/postroom.ts';

function postOf(query: string): string {
  const body = JSON.stringify({ query });
  return `POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** A stream over SSE on a connection of its own; resolves once it has begun. */
async function follow(postroom: Postroom, room: string): Promise<Response> {
  return fetch(postroom.graphqlUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query: `subscription { roomEvents(room: "${room}") { cursor } }` }),
  });
}

it('a server that stops finishes what has begun, and takes nothing more over connections that are kept', async () => {
  const postroom = await launchForTest();
  const room = await postroom.createRoom(await postroom.signUp('Ada'), 'lobby');
  const stream = await follow(postroom, room);
  const connection = await RawConnection.open(postroom);
  const begun = postOf('{ rooms { data { name } } }');
  connection.send(begun.slice(0, -1));
  const neighbour = await RawConnection.open(postroom);
  neighbour.send(postOf('{ __typename }'));
  expect((await neighbour.receive()).status).toBe(200);
  const ended = once(postroom.process, 'exit');
  postroom.process.kill('SIGTERM');
  // The stream ends, and an idle connection is closed: it stops.
  await stream.text();
  await neighbour.closed();
  connection.send(begun.slice(-1) + postOf(`subscription { roomEvents(room: "${room}") { cursor } }`));
  const finished = await connection.receive();
  expect([finished.status, finished.data]).toEqual([200, { rooms: { data: [{ name: 'lobby' }] } }]);
  const refused = await connection.receive();
  expect(refused).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE', headers: { connection: 'close' } });
  expect(refused.headers['content-type']).toContain(graphqlResponse);
  expect(refused.headers['retry-after']).toBe('1');
  await connection.closed();
  expect(await ended).toEqual([0, null]);
  expect(postroom.log).toEqual([]);
});
