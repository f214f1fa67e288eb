import { expect, it, vi } from 'vitest';
import { roomStore } from '../../packages/client/src/index.ts';
import { open, openClient, until } from '../support/clients/postroom-client.ts';
import { advanceTime, launchWithVirtualClock, pollWhileTimePasses } from '../support/server/virtual-timers.ts';

const dayMs = 86_400_000;

it('a token is renewed before it expires, and the subscriptions continue', async () => {
  const postroom = await launchWithVirtualClock();
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'room');
  const tokens: string[] = [];
  // The server tells the client of the end of its credentials a minute before.
  vi.setSystemTime(Date.now() + dayMs - 30_000);
  const client = openClient(postroom.graphqlUrl, { token: ada.token, onToken: (token) => tokens.push(token) });
  const store = open(roomStore(client, room));
  await pollWhileTimePasses(() => tokens.length).toBe(1);
  // Past the end of the first token.
  advanceTime(31_000);
  await expect(postroom.ask('{ viewer { id } }', {}, ada.token)).rejects.toThrow();
  const renewed = { ...ada, token: tokens[0] ?? '' };
  await postroom.createPost(renewed, room, 'after');
  await pollWhileTimePasses(() => store.get().posts.length).toBe(1);
  expect(await client.request('{ viewer { id } }')).toEqual({ viewer: { id: ada.id } });
  expect(client.ends).toEqual([]);
});

it('a function that returns the old token once more is not asked in a loop', async () => {
  const postroom = await launchWithVirtualClock();
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'room');
  vi.setSystemTime(Date.now() + dayMs - 30_000);
  const client = openClient(postroom.graphqlUrl, { token: () => ada.token });
  let warnings = 0;
  client.live.on('ping', (_, payload) => {
    if (payload?.['expiresAt']) warnings += 1;
  });
  const store = open(roomStore(client, room));
  await pollWhileTimePasses(() => warnings).toBeGreaterThan(0);
  for (let count = 1; count <= 20; count += 1) await postroom.createPost(ada, room, String(count));
  await pollWhileTimePasses(() => store.get().posts.length).toBe(20);
  expect(warnings).toBe(1);
});

it('a token that a request has received first is sent on the socket, too', async () => {
  const postroom = await launchWithVirtualClock();
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'room');
  vi.setSystemTime(Date.now() + dayMs - 62_000);
  let token = ada.token;
  const client = openClient(postroom.graphqlUrl, { token: () => token });
  const sent: string[] = [];
  client.live.on('opened', (socket) => {
    const opened = socket as WebSocket;
    const send = opened.send.bind(opened);
    opened.send = (data) => {
      sent.push(String(data));
      send(data);
    };
  });
  open(roomStore(client, room));
  await until(client.connection, ({ state }) => state === 'live');
  token = (await postroom.ask('mutation { renewSession { accessToken } }', {}, ada.token)).renewSession.accessToken;
  await client.request('{ viewer { id } }');
  expect(sent.some((message) => message.includes(token))).toBe(false);
  await pollWhileTimePasses(() => sent.some((message) => message.includes(token))).toBe(true);
});
