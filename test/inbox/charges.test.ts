import { expect, it } from 'vitest';
import { EventStream } from '../support/clients/event-stream.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { inboxQuery } from '../support/inbox/inbox-stream.ts';
import { launchForTest } from '../support/server/postroom.ts';

const freeCount = 20;

it('an inbox that resumes is free up to 20 times for one user, whatever is open, and is charged then', async () => {
  const postroom = await launchForTest({ RATE_LIMIT: '4' });
  const bob = await postroom.signUp('Bob');
  const authorization = `Bearer ${bob.token}`;
  const ids = Array.from({ length: freeCount + 6 }, (_, index) => `${index}`);
  const seen = Object.fromEntries(ids.map((id) => [id, {}]));
  const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init: { authorization, live: { seen } } });
  const outcomes: string[] = [];
  for (const id of ids) {
    const { start, refused } = socket.subscribe(id, inboxQuery);
    outcomes.push(
      await Promise.race([start.then(() => 'open'), refused.then(([error]) => `${error?.extensions.code}`)]),
    );
    if (id !== '0') socket.complete(id);
  }
  expect(outcomes).toEqual([...Array(freeCount + 4).fill('open'), 'RATE_LIMITED', 'RATE_LIMITED']);
});

it('an inbox as an event stream is charged, with Last-Event-ID, too', async () => {
  const postroom = await launchForTest({ RATE_LIMIT: '4' });
  const bob = await postroom.signUp('Bob');
  const room = await postroom.createRoom(bob, 'hall');
  await postroom.createPost(bob, room, 'one');
  const headers = { authorization: `Bearer ${bob.token}`, 'last-event-id': await postroom.cursorOf(room, bob.token) };
  const open = () => EventStream.open(postroom.graphqlUrl, inboxQuery, headers, { after: [] });
  expect((await open()).status).toBe(200);
  expect((await open()).status).toBe(429);
});
