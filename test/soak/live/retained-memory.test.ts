import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, request } from 'node:http';
import type { Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { launch, mainProgram, type PostroomProcess } from '../../support/server/postroom.ts';

/**
 * The maximum memory, in bytes, that the clients of one address may hold within the default limits, in addition to the
 * memory of an idle server.
 */
const maxBytes = 64 * 2 ** 20;
const sockets = 1_000;
/** Sockets are opened in batches, so that handshakes do not time out in the server's queue. */
const atOnce = 50;

const probe = new URL('../../support/server/report-memory.ts', import.meta.url).pathname;
const program = ['--max-semi-space-size=32', '--expose-gc', '--import', probe, ...mainProgram];
/** The rate limit would only slow the test down; an attacker can wait. */
const settings = { RATE_LIMIT: '0', LIMIT_SOCKETS: '1000', STALL_SECONDS: '600' };

interface RoomFixture {
  postroom: PostroomProcess;
  room: string;
  cursor: string;
  /** Bytes in use, on the heap and outside it, when no client is connected. */
  idle: number;
}

async function openRoomFixture(): Promise<RoomFixture> {
  const postroom = await launch(settings, program);
  onTestFinished(() => postroom.kill());
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'hall');
  const cursor = await postroom.cursorOf(room);
  const warmUp = await open({ postroom }, {});
  subscribe(warmUp, '1', { query: plain, variables: { room } });
  await until(warmUp, '"live"');
  warmUp.terminate();
  return { postroom, room, cursor, idle: await retainedBy(postroom) };
}

/** The memory in use after a garbage collection, in bytes. */
async function retainedBy(postroom: PostroomProcess): Promise<number> {
  const reports = () => postroom.log.filter(({ msg }) => msg === 'memory');
  const before = reports().length;
  postroom.process.kill('SIGUSR2');
  await expect.poll(() => reports().length, { timeout: 60_000 }).toBeGreaterThan(before);
  return Number(reports().at(-1)?.['retained']);
}

async function expectBounded({ postroom, idle }: RoomFixture): Promise<void> {
  const readings: number[] = [];
  const read = async () => {
    readings.push((await retainedBy(postroom)) - idle);
    return readings.at(-1);
  };
  // Work that is still in progress may use more memory for a moment, so the check polls.
  await expect.poll(read, { timeout: 60_000, interval: 1_000 }).toBeLessThan(maxBytes);
  const all = readings.map((bytes) => (bytes / 2 ** 20).toFixed(1)).join(', ');
  process.stdout.write(`${expect.getState().currentTestName}: ${all} MiB\n`);
  // The server still answers other clients.
  expect((await fetch(`${postroom.url}/health`)).status).toBe(200);
}

const plain = 'subscription ($room: ID!) { roomEvents(room: $room) { cursor __typename } }';

/** Opens and initialises a socket; `texts` collects the messages that it receives. */
async function open({ postroom }: Pick<RoomFixture, 'postroom'>, init: unknown): Promise<Client> {
  const client: Client = Object.assign(new WebSocket(postroom.webSocketUrl, 'graphql-transport-ws'), { texts: [] });
  client.on('error', () => {});
  client.on('message', (data) => client.texts.push(String(data)));
  await Promise.race([once(client, 'open'), once(client, 'close')]).catch(() => {});
  if (client.readyState !== client.OPEN) return client;
  client.send(JSON.stringify({ type: 'connection_init', payload: init }));
  await until(client, 'connection_ack');
  return client;
}

interface Client extends WebSocket {
  texts: string[];
}

/** Resolves when a message that contains `text` was received or the socket is closed. */
async function until(client: Client, text: string): Promise<void> {
  while (client.readyState === client.OPEN && !client.texts.some((one) => one.includes(text))) {
    await Promise.race([once(client, 'message'), once(client, 'close')]);
  }
}

function subscribe(client: Client, id: string, payload: Record<string, unknown>, rest: object = {}): void {
  if (client.readyState === client.OPEN) client.send(JSON.stringify({ ...rest, type: 'subscribe', id, payload }));
}

async function openMany(hall: RoomFixture, init: (index: number) => unknown = () => ({})): Promise<Client[]> {
  const clients: Client[] = [];
  for (let from = 0; from < sockets; from += atOnce) {
    clients.push(...(await Promise.all(Array.from({ length: atOnce }, (_, n) => open(hall, init(from + n))))));
  }
  onTestFinished(() => clients.forEach((client) => void client.terminate()));
  return clients;
}

/** A frame whose last byte is missing. */
const part = Buffer.concat([
  Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 3, 0xff, 0xff, 0, 0, 0, 0]),
  Buffer.alloc(2 ** 18 - 2),
]);

function sendPart(client: Client): void {
  (client as unknown as { _socket: Socket })._socket.write(part);
}

/** Resolves when the server has handled every message that the clients have sent so far. */
async function settle(clients: readonly Client[]): Promise<void> {
  await Promise.all(
    clients.map(async (client) => {
      if (client.readyState !== client.OPEN) return;
      client.send('{"type":"ping","payload":{"marker":"settled"}}');
      await until(client, 'settled');
    }),
  );
}

it('1,000 sockets with ten ordinary subscriptions each are served in bounded memory', async () => {
  const hall = await openRoomFixture();
  const clients = await openMany(hall);
  // One after the other: the limit of an address counts the messages that wait, too.
  for (let n = 0; n < 10; n += 1) {
    for (const client of clients) subscribe(client, `${n}`, { query: plain, variables: { room: hall.room } });
    await settle(clients);
  }
  const refused = clients.filter(({ texts }) => texts.some((text) => text.includes('"error"')));
  expect(refused).toHaveLength(0);
  await expectBounded(hall);
});

it('subscriptions to presence use bounded memory, also after their connections were lost', async () => {
  const hall = await openRoomFixture();
  const clients = await openMany(hall);
  const query = 'subscription ($room: ID!) { roomPresence(room: $room) { count } }';
  for (const client of clients) {
    for (let n = 0; n < 10; n += 1) subscribe(client, `${n}`, { query, variables: { room: hall.room } });
  }
  await settle(clients);
  await expectBounded(hall);
  for (const client of clients.slice(0, sockets / 2)) client.terminate();
  await expectBounded(hall);
});

it('`connectionParams`, `live.seen` and all other data of a handshake use bounded memory', async () => {
  const hall = await openRoomFixture();
  const text = (length: number) => randomBytes(length).toString('base64').slice(0, length);
  await openMany(hall, () => ({
    junk: text(100_000),
    live: { seen: Object.fromEntries(Array.from({ length: 100 }, () => [text(200), text(200)])) },
  }));
  await expectBounded(hall);
});

it('subscriptions with large variables, extensions and other fields use bounded memory', async () => {
  const hall = await openRoomFixture();
  const clients = await openMany(hall, () => ({
    live: { seen: Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`${n}`, hall.cursor])) },
  }));
  const query = `subscription ($room: ID!, $x: String) {
    roomEvents(room: $room) { cursor room { posts(after: $x, first: 1) { nodes { id } } } }
  }`;
  for (const [k, client] of clients.slice(0, 100).entries()) {
    for (let n = 0; n < 100; n += 1) {
      const variables = { room: hall.room, x: `${k} ${n} ${'x'.repeat(n % 2 === 0 ? 4_000 : 100_000)}` };
      const junk = { junk: 'x'.repeat(20_000) };
      subscribe(client, `${n}`, { query, variables, extensions: junk, ...junk }, junk);
      if (n % 20 === 0) await settle([client]);
    }
  }
  await settle(clients.slice(0, 100));
  await expectBounded(hall);
});

it('large documents that all differ use bounded memory', async () => {
  const hall = await openRoomFixture();
  const clients = await openMany(hall);
  const nested = (depth: number): string => (depth === 0 ? 'at' : `...{${nested(depth - 1)}}`);
  const body = `${nested(30)} `.repeat(20);
  for (const [k, client] of clients.entries()) {
    const query = `subscription ($room: ID!) { roomEvents(room: $room) { cursor a${k}: __typename ${body} } }`;
    subscribe(client, '1', { query, variables: { room: hall.room } });
    if (k % atOnce === atOnce - 1) await settle(clients.slice(k - atOnce + 1, k + 1));
  }
  await expectBounded(hall);
});

it('messages that are never completed use bounded memory', async () => {
  const hall = await openRoomFixture();
  const clients = await openMany(hall);
  for (const client of clients) sendPart(client);
  // A ping on a new socket gives the server time to receive the frames that were sent last.
  await settle([await open(hall, {})]);
  await expect
    .poll(() => clients.filter(({ readyState }) => readyState === WebSocket.CLOSED).length)
    .toBeGreaterThan(0);
  await expectBounded(hall);
});

it('events that no client reads use bounded memory', async () => {
  const hall = await openRoomFixture();
  const { postroom, room } = hall;
  const eve = await postroom.signUp('Eve');
  const clients = await openMany(hall);
  const query = 'subscription ($room: ID!) { roomEvents(room: $room) { ... on PostCreated { post { body } } } }';
  for (const client of clients) subscribe(client, '1', { query, variables: { room } });
  await Promise.all(clients.map((client) => until(client, '"live"')));
  for (const client of clients) client.pause();
  // The server copies an event of 15 kB for each socket; sockets share only the bytes of longer events.
  for (let n = 0; n < 400; n += 1) await postroom.createPost(eve, room, 'long', 'x'.repeat(15_000));
  await expectBounded(hall);
});

/** Equal selections would share the encoded bytes of each event. */
const ownSelection = (n: number) =>
  `subscription ($room: ID!) { roomEvents(room: $room) { own${n}: __typename ... on PostCreated { post { body } } } }`;

it('long events of sockets that share no bytes, and that no client reads, use bounded memory', async () => {
  const hall = await openRoomFixture();
  const { postroom, room } = hall;
  const eve = await postroom.signUp('Eve');
  const clients = await openMany(hall);
  for (const [n, client] of clients.entries()) {
    subscribe(client, '1', { query: ownSelection(n), variables: { room } });
  }
  await Promise.all(clients.map((client) => until(client, '"live"')));
  for (const client of clients) client.pause();
  for (let n = 0; n < 120; n += 1) await postroom.createPost(eve, room, 'long', '\u{1f600}'.repeat(15_000));
  await expectBounded(hall);
});

it('events of HTTP streams that no client reads use bounded memory', async () => {
  const hall = await openRoomFixture();
  const { postroom, room } = hall;
  const eve = await postroom.signUp('Eve');
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
  for (let n = 0; n < 900; n += 1) {
    const sent = request(postroom.graphqlUrl, { method: 'POST', agent: false, headers });
    onTestFinished(() => void sent.destroy());
    sent.on('error', () => {});
    sent.end(JSON.stringify({ query: ownSelection(n), variables: { room } }));
    const [response] = await once(sent, 'response');
    response.on('error', () => {});
    response.socket.pause();
  }
  // The events exceed the buffers that the kernel has for a client. They reach the limits of many streams at once.
  for (let n = 0; n < 120; n += 1) await postroom.createPost(eve, room, 'long', '\u{1f600}'.repeat(15_000));
  await expectBounded(hall);
});

it('HTTP streams and requests that are left open use bounded memory', async () => {
  const hall = await openRoomFixture();
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
  const left: ClientRequest[] = [];
  onTestFinished(() => left.forEach((one) => void one.destroy()));
  for (let n = 0; n < 990; n += 1) {
    const sent = request(hall.postroom.graphqlUrl, { method: 'POST', agent: false, headers });
    sent.on('error', () => {});
    left.push(sent);
    const body = JSON.stringify({
      query: plain,
      variables: { room: hall.room },
      extensions: { junk: 'x'.repeat(900_000) },
    });
    if (n % 2 === 0) {
      sent.end(body);
      const [response] = await once(sent, 'response');
      response.on('error', () => {});
      response.resume();
    } else sent.write(body.slice(0, 16_000));
  }
  await expectBounded(hall);
});

it('the maximum of subscriptions, documents of queries and incomplete messages together use bounded memory', async () => {
  const hall = await openRoomFixture();
  const clients = await openMany(hall);
  for (const client of clients) {
    for (let n = 0; n < 15; n += 1) subscribe(client, `${n}`, { query: plain, variables: { room: hall.room } });
  }
  const isRefused = (text: string) => text.includes('SUBSCRIPTION_LIMIT_EXCEEDED');
  // A socket that is closed for the memory of its address needs no answers.
  const countAnswered = () => {
    const open = clients.filter(({ readyState }) => readyState === WebSocket.OPEN);
    const answers = open.flatMap(({ texts }) => texts).filter((text) => text.includes('"live"') || isRefused(text));
    return answers.length + 15 * (clients.length - open.length);
  };
  await expect.poll(countAnswered, { timeout: 60_000, interval: 500 }).toBe(15 * clients.length);
  expect(clients.some(({ texts }) => texts.some(isRefused))).toBe(true);
  const fields = Array.from({ length: 20 }, (_, n) => `${'...{'.repeat(30)} id${n}: __typename ${'}'.repeat(30)}`).join(
    ' ',
  );
  for (let n = 0; n < 100; n += 1) await hall.postroom.send(`{ own${n}: __typename ${fields} }`);
  for (const client of clients.slice(0, 500)) sendPart(client);
  await settle(clients.slice(500));
  await expectBounded(hall);
});
