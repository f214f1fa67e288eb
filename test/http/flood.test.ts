import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import WebSocket from 'ws';
import { graphqlResponse, handshake, post, RawConnection } from '../support/clients/http.ts';
import { launchForTest, type Postroom } from '../support/server/postroom.ts';
import { withVirtualTimers } from '../support/server/virtual-timers.ts';

function open({ webSocketUrl }: Postroom, localAddress = '127.0.0.1'): WebSocket {
  return new WebSocket(webSocketUrl, 'graphql-transport-ws', { localAddress });
}

async function connect(postroom: Postroom): Promise<WebSocket> {
  const socket = open(postroom);
  await once(socket, 'open');
  socket.send('{"type":"connection_init"}');
  await once(socket, 'message');
  return socket;
}

it.each([
  ['messages', [1013], (socket: WebSocket) => socket.send('{"type":"ping"}')],
  // ws terminates a socket (1006) if too many of its pings wait for a pong.
  ['WebSocket pings', [1006, 1013], (socket: WebSocket) => socket.ping()],
  ['WebSocket pongs', [1013], (socket: WebSocket) => socket.pong()],
  [
    'subscribes',
    [1013],
    (socket: WebSocket, index: number) =>
      socket.send(`{"type":"subscribe","id":"${index}","payload":{"query":"{ viewer { id } }"}}`),
  ],
])('a flood of %s ends its socket with %j, and another client is not affected', async (_what, expected, send) => {
  const postroom = await launchForTest();
  const [flooding, neighbour] = await Promise.all([connect(postroom), connect(postroom)]);
  for (let index = 0; index < 10_000; index += 1) send(flooding, index);
  const [code] = await once(flooding, 'close');
  expect(expected).toContain(code);
  neighbour.send('{"type":"ping","payload":{"still":"here"}}');
  const [answer] = await once(neighbour, 'message');
  expect(JSON.parse(String(answer))).toEqual({ type: 'pong', payload: { still: 'here' } });
  neighbour.close();
});

it('a long message counts as several, one for each 16 KiB', async () => {
  const postroom = await launchForTest();
  const socket = await connect(postroom);
  const pong = JSON.stringify({ type: 'pong', payload: { text: 'x'.repeat(140_000) } });
  // So many that a slow machine does not read them as slowly as the limit allows.
  for (let index = 0; index < 150; index += 1) socket.send(pong);
  socket.send('{"type":"ping"}');
  const answered = once(socket, 'message').then(() => 'answered');
  const closed = once(socket, 'close').then(([code, reason]) => `${code} ${reason}`);
  expect(await Promise.race([answered, closed])).toBe('1013 Too many messages');
});

it('requests for /ready that wait at the same time cause one read of the database', async () => {
  const postroom = await launchForTest({ LOG_LEVEL: 'debug' });
  const connection = await RawConnection.open(postroom);
  const before = postroom.log.length;
  connection.send('GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(8));
  for (let index = 0; index < 8; index += 1) expect((await connection.receive()).status).toBe(200);
  const statements = postroom.log.slice(before).filter(({ msg }) => msg === 'statement');
  expect(statements.length).toBeGreaterThan(0);
  expect(statements.length).toBeLessThan(4);
});

it('a packet of many messages on one socket does not delay another client until all are handled', async () => {
  const postroom = await launchForTest({ RATE_LIMIT: '0' });
  const [flooding, neighbour] = await Promise.all([connect(postroom), connect(postroom)]);
  const count = 150;
  let answered = 0;
  flooding.on('message', () => {
    answered += 1;
    if (answered === 1) neighbour.send('{"type":"ping"}');
  });
  const wire: Socket = Reflect.get(flooding, '_socket');
  wire.cork();
  for (let index = 0; index < count; index += 1) {
    const query = `{ viewer { ${'id '.repeat(100)} nothing${index} } }`;
    flooding.send(JSON.stringify({ type: 'subscribe', id: String(index), payload: { query } }));
  }
  wire.uncork();
  await once(neighbour, 'message');
  expect(answered).toBeLessThan(count);
  await expect.poll(() => answered).toBe(count);
  for (const socket of [flooding, neighbour]) socket.terminate();
});

it('a packet of ten thousand frames on one socket does not delay another client until all are read', async () => {
  const postroom = await launchForTest({ LIMIT_MESSAGES: '100000' });
  const [flooding, neighbour] = await Promise.all([connect(postroom), connect(postroom)]);
  const answers: string[] = [];
  flooding.on('message', (data) => {
    answers.push(JSON.parse(String(data)).payload.n);
    if (answers.length === 1) neighbour.send('{"type":"ping"}');
  });
  neighbour.on('message', () => answers.push('neighbour'));
  const wire: Socket = Reflect.get(flooding, '_socket');
  // Masked frames: a mask of zeros leaves the payload as it is.
  const frame = (first: number, payload: string) =>
    Buffer.concat([Buffer.from([first, 0x80 | payload.length, 0, 0, 0, 0]), Buffer.from(payload)]);
  const ping = (n: string) => frame(0x81, JSON.stringify({ type: 'ping', payload: { n } }));
  wire.write(Buffer.concat([ping('first'), ...Array(10_000).fill(frame(0x8a, '')), ping('last')]));
  await expect.poll(() => answers).toHaveLength(3);
  expect(answers).toEqual(['first', 'neighbour', 'last']);
  for (const socket of [flooding, neighbour]) socket.terminate();
});

it('a pong that answers a ping of the server does not count as a message', async () => {
  const postroom = await launchForTest({ LIMIT_MESSAGES: '1', STALL_SECONDS: '1' });
  const socket = await connect(postroom);
  for (let index = 0; index < 5; index += 1) await once(socket, 'ping');
  socket.send('{"type":"ping"}');
  await once(socket, 'message');
  socket.terminate();
});

it('the connection of a socket that was ended for its messages ends after the close frame, whatever its client sends', async () => {
  const postroom = await launchForTest();
  const connection = connectTcp(Number(new URL(postroom.webSocketUrl).port), '127.0.0.1');
  connection.write(handshake);
  await once(connection, 'data');
  const received: Buffer[] = [];
  connection.on('data', (data) => received.push(data));
  // Masked pings that are empty. The client sends no close frame.
  const pings = Buffer.from('898000000000'.repeat(1_000), 'hex');
  const ended = once(connection, 'end').then(() => 'ended');
  connection.write(pings);
  const reason = 'Too many messages';
  await expect.poll(() => Buffer.concat(received).includes(reason)).toBe(true);
  const next = open(postroom);
  // No other socket of the address is admitted for a second.
  expect(await Promise.race([ended, once(next, 'open').then(() => 'admitted')])).toBe('ended');
  const closeFrame = Buffer.concat([Buffer.from([0x88, reason.length + 2, 0x03, 0xf5]), Buffer.from(reason)]);
  expect(Buffer.concat(received).subarray(-closeFrame.length)).toEqual(closeFrame);
  next.terminate();
  connection.destroy();
});

it('an address may hold a maximum of sockets; a socket that closes makes way for another', async () => {
  const postroom = await launchForTest({ LIMIT_SOCKETS: '3' });
  const held = await Promise.all([connect(postroom), connect(postroom), connect(postroom)]);
  const connection = await RawConnection.open(postroom);
  connection.send(handshake);
  const refused = await connection.receive();
  expect(refused).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE', headers: { 'retry-after': '1' } });
  expect(refused.headers['content-type']).toContain(graphqlResponse);
  held[0]?.close();
  await once(held[0] as WebSocket, 'close');
  const [next] = await Promise.all([connect(postroom)]);
  for (const socket of [...held, next]) socket.terminate();
});

it('an address may open 100 sockets that send nothing; each that sends connection_init or closes admits the next, in order', async () => {
  // No socket is closed because its connection_init is late.
  const postroom = await withVirtualTimers(() => launchForTest());
  const silent = Array.from({ length: 100 }, () => open(postroom));
  await Promise.all(silent.map((socket) => once(socket, 'open')));
  const opened: string[] = [];
  const enter = (name: string) => {
    const socket = open(postroom).on('open', () => opened.push(name));
    // If the server admits the socket immediately, it does so before it answers this request over another connection.
    return post(postroom, '{ __typename }').then(() => socket);
  };
  const [second, third] = [await enter('second'), await enter('third')];
  const elsewhere = open(postroom, '127.0.0.2').on('open', () => opened.push('elsewhere'));
  await once(elsewhere, 'open');
  expect(opened).toEqual(['elsewhere']);
  silent[0]?.send('{"type":"connection_init"}');
  await once(second, 'open');
  silent[1]?.terminate();
  await once(third, 'open');
  expect(opened).toEqual(['elsewhere', 'second', 'third']);
  for (const socket of [...silent, second, third, elsewhere]) socket.terminate();
});

it('a queued handshake whose client leaves frees its place', async () => {
  const postroom = await withVirtualTimers(() => launchForTest({ LIMIT_SOCKETS: '101' }));
  const silent = Array.from({ length: 100 }, () => open(postroom));
  await Promise.all(silent.map((socket) => once(socket, 'open')));
  // The server sends a refusal before it answers a later request over another connection.
  const enter = async () => {
    const connection = await RawConnection.open(postroom);
    connection.send(handshake);
    const refused = connection.receive().then(({ status }) => status);
    refused.catch(() => {});
    const outcome = await Promise.race([refused, post(postroom, '{ __typename }').then(() => 'waits')]);
    return { connection, outcome };
  };
  const first = await enter();
  expect(first.outcome).toBe('waits');
  expect((await enter()).outcome).toBe(503);
  first.connection.leave();
  await expect.poll(async () => (await enter()).outcome).toBe('waits');
  for (const socket of silent) socket.terminate();
});

it.each([
  ['messages', (socket: WebSocket) => socket.send('{"type":"ping"}')],
  ['fragments', (socket: WebSocket) => socket.send(' ', { fin: false })],
])('a client that floods a socket with %s waits for its next socket; others do not', async (_what, send) => {
  const postroom = await launchForTest();
  const flooding = await connect(postroom);
  flooding.on('error', () => {});
  for (let index = 0; index < 1_000; index += 1) send(flooding);
  await once(flooding, 'close');
  const opened: string[] = [];
  const again = open(postroom).on('open', () => opened.push('who flooded'));
  const elsewhere = open(postroom, '127.0.0.2').on('open', () => opened.push('elsewhere'));
  await Promise.all([once(again, 'open'), once(elsewhere, 'open')]);
  expect(opened).toEqual(['elsewhere', 'who flooded']);
  for (const socket of [again, elsewhere]) socket.terminate();
});

it('a frame in a thousand fragments is closed with 1008', async () => {
  const postroom = await launchForTest({ RATE_LIMIT: '0' });
  const dripping = await connect(postroom);
  const closed = once(dripping, 'close');
  const wire: Socket = Reflect.get(dripping, '_socket');
  // The header of a masked text frame with a payload of 60,000 bytes.
  wire.write(Buffer.from([0x81, 0xfe, 0xea, 0x60, 0, 0, 0, 0]));
  for (let sent = 0; sent < 60_000 && dripping.readyState === dripping.OPEN; sent += 1) {
    wire.write(' ');
    // The server reads the byte before it answers this request.
    await post(postroom, '{ __typename }');
  }
  expect(await closed).toEqual([1008, expect.anything()]);
});

it('large request bodies that are never completed leave memory for small bodies, and for large ones after they are gone', async () => {
  const postroom = await launchForTest();
  const length = 990_000;
  const held = await Promise.all(Array.from({ length: 24 }, () => RawConnection.open(postroom)));
  for (const connection of held) {
    connection.send(
      `POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`,
    );
    connection.send(' '.repeat(length - 1));
  }
  const refused = await Promise.any(held.map((connection) => connection.receive()));
  expect(refused).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE', headers: { 'retry-after': '1' } });
  expect((await post(postroom, '{ __typename }')).status).toBe(200);
  for (const connection of held) connection.leave();
  await expect
    .poll(async () => (await post(postroom, '{ __typename }', { padding: ' '.repeat(length - 1_000) })).status)
    .toBe(200);
});
