import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { EventStream, multipartHeaders, streamForms } from '../support/clients/event-stream.ts';
import { FrameReader } from '../support/clients/frame-reader.ts';
import { RawConnection } from '../support/clients/http.ts';
import { makePosts } from '../support/clients/load.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { nothingLeft, ownListeners, readMetrics, untilCounts } from '../support/engine/metrics.ts';
import { TokenMaker } from '../support/identity/tokens.ts';
import { scratchName } from '../support/rooms/names.ts';
import { launchForTest, type Person, type Postroom } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';
import { advanceTime, withVirtualTimers } from '../support/server/virtual-timers.ts';

interface Lobby {
  postroom: Postroom;
  ada: Person;
  room: string;
  query: string;
}

const shared = shareServer();

/** Creates a room on the shared server; with settings, on a separate server. */
async function openLobby(settings?: Record<string, string>): Promise<Lobby> {
  const postroom = settings ? await launchForTest(settings) : shared.postroom;
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, scratchName());
  return { postroom, ada, room, query: `subscription { roomEvents(room: "${room}") { cursor } }` };
}

const bearer = (person: Person) => ({ authorization: `Bearer ${person.token}` });

/** Opens a socket with ten subscriptions, which use two selections and two rooms and form three groups. */
async function fillSocket({ postroom, ada, room, query }: Lobby, init = {}): Promise<ProtocolSocket> {
  const other = await postroom.createRoom(ada, scratchName());
  const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init });
  for (let index = 0; index < 5; index += 1) {
    await socket.follow(`s${index}`, query);
    await socket.follow(`p${index}`, `subscription { postAdded(room: "${index % 2 ? room : other}") { title } }`);
  }
  expect(await readMetrics(postroom)).toMatchObject({
    ...{ feeds: 2, groups: 3, subscribers: 10 },
    bus_listeners: ownListeners + 2,
  });
  return socket;
}

/** Expects that no resource is left, and that a later subscription receives an event and leaves no resource either. */
async function expectNothingLeft({ postroom, ada, room, query }: Lobby): Promise<void> {
  await untilCounts(postroom, nothingLeft);
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  await socket.follow('later', query);
  await postroom.createPost(ada, room, 'later');
  expect(await socket.take()).toMatchObject({ type: 'next', id: 'later' });
  socket.webSocket.close();
  await untilCounts(postroom, nothingLeft);
  expect(postroom.log).toEqual([]);
}

it('a server without subscribers has only its own listener', async () => {
  const { postroom } = await openLobby();
  expect(await readMetrics(postroom)).toMatchObject(nothingLeft);
});

it.each<[string, (socket: ProtocolSocket) => void]>([
  ['the socket that is closed', (socket) => socket.webSocket.close(1000, 'Normal Closure')],
  ['the socket that is closed without a word', (socket) => socket.webSocket.close()],
  ['the connection that is ended', (socket) => void socket.rawSocket.end()],
  ['the connection that is reset', (socket) => void socket.rawSocket.resetAndDestroy()],
  ['a fault of the protocol', (socket) => socket.webSocket.send('nonsense')],
  ['a frame that no one may send', (socket) => void socket.rawSocket.write(Buffer.from([0x83, 0x80, 0, 0, 0, 0]))],
])('no resource is left after %s', async (_title, end) => {
  const lobby = await openLobby();
  const socket = await fillSocket(lobby);
  end(socket);
  await expectNothingLeft(lobby);
});

it('no resource is left after a complete while its socket stays open', async () => {
  const { postroom, query } = await openLobby();
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  for (let time = 0; time < 20; time += 1) {
    await socket.follow('1', query);
    socket.send({ type: 'complete', id: '1' });
  }
  await socket.settle();
  await untilCounts(postroom, { ...nothingLeft, websockets: 1 });
});

it('no resource is left after subscriptions that ended before they began', async () => {
  const { postroom, query } = await openLobby({ LIMIT_MESSAGES: '1000' });
  const payload = { query };
  for (let time = 0; time < 10; time += 1) {
    const socket = await ProtocolSocket.open(postroom.webSocketUrl);
    for (let index = 0; index < 10; index += 1) {
      const id = String(index);
      socket.send({ type: 'subscribe', id, payload }, ...(index % 2 ? [{ type: 'complete', id }] : []));
    }
    if (time % 2) socket.webSocket.terminate();
    else socket.webSocket.close();
  }
  await untilCounts(postroom, nothingLeft);
  expect(postroom.log).toEqual([]);
});

it('no resource is left after subscriptions that were refused', async () => {
  const { postroom, room } = await openLobby();
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  for (const [index, after] of ['nonsense', '', Buffer.from(`00000000.5.${room}`).toString('base64url')].entries()) {
    socket.subscribe(String(index), `subscription { roomEvents(room: "${room}", after: "${after}") { cursor } }`);
    expect(await socket.take()).toMatchObject({ type: 'error', payload: [{ extensions: { code: /^CURSOR_/ } }] });
  }
  await untilCounts(postroom, { ...nothingLeft, websockets: 1 });
});

it.each(streamForms)('no resource is left after a client of %s disconnects, early or late', async (_form, form) => {
  const { postroom, query } = await openLobby();
  const streams = await Promise.all([1, 2, 3].map(() => EventStream.open(postroom.graphqlUrl, query, form)));
  await untilCounts(postroom, { feeds: 1, groups: 1, subscribers: 3 });
  streams[0]?.response.destroy();
  streams[1]?.response.socket.resetAndDestroy();
  await untilCounts(postroom, { subscribers: 1 });
  streams[2]?.response.socket.end();
  await untilCounts(postroom, nothingLeft);
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream', ...form };
  await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) => {
      const signal = AbortSignal.timeout(index);
      return fetch(postroom.graphqlUrl, { method: 'POST', headers, body: JSON.stringify({ query }), signal });
    }),
  );
  await untilCounts(postroom, nothingLeft);
  expect(postroom.log).toEqual([]);
});

it('no resource is left after a write fails', async () => {
  const lobby = await openLobby({});
  const { postroom, ada, room } = lobby;
  const query = `subscription { roomEvents(room: "${room}") { cursor ... on PostCreated { post { body } } } }`;
  const reader = await FrameReader.open(postroom.webSocketUrl, query);
  const forms = streamForms.map(([, form]) => EventStream.open(postroom.graphqlUrl, query, form));
  const streams = await Promise.all(forms);
  reader.socket.pause();
  for (const { response } of streams) response.socket.pause();
  // More bytes than the kernel's socket buffers hold.
  await makePosts(postroom, { author: ada, room, count: 125, bytes: 80_000, letter: '😀' });
  await untilCounts(postroom, { subscribers: 3, websockets: 1 });
  reader.socket.resetAndDestroy();
  for (const { response } of streams) response.socket.resetAndDestroy();
  await expectNothingLeft(lobby);
});

it('a room that is deleted ends its streams with ROOM_DELETED: an error over WebSocket, next and complete over HTTP', async () => {
  const lobby = await openLobby();
  const { postroom, ada, room, query } = lobby;
  const other = await postroom.createRoom(ada, scratchName());
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  await socket.follow('1', query);
  await socket.follow('2', `subscription { postAdded(room: "${room}") { title } }`);
  await socket.follow('other', `subscription { postAdded(room: "${other}") { title } }`);
  const forms = streamForms.map(([, form]) => EventStream.open(postroom.graphqlUrl, query, form));
  const streams = await Promise.all(forms);
  await postroom.ask('mutation ($id: ID!) { deleteRoom(input: { id: $id }) { room { id } } }', { id: room }, ada.token);
  const deleted = { message: 'The room was deleted.', extensions: { code: 'ROOM_DELETED' } };
  expect([await socket.take(), await socket.take()]).toEqual([
    { type: 'error', id: '1', payload: [deleted] },
    { type: 'error', id: '2', payload: [deleted] },
  ]);
  for (const stream of streams) {
    await stream.closed;
    expect(stream.received.slice(1)).toMatchObject([
      { event: 'next', data: { errors: [deleted] } },
      { event: 'complete', data: undefined },
    ]);
  }
  await untilCounts(postroom, { feeds: 1, groups: 1, subscribers: 1, websockets: 1, bus_listeners: ownListeners + 1 });
  await postroom.createPost(ada, other, 'still here');
  expect(await socket.take()).toMatchObject({ id: 'other', payload: { data: { postAdded: { title: 'still here' } } } });
  socket.webSocket.close();
  await untilCounts(postroom, nothingLeft);
});

it('a deleted user loses all sockets, with 4403, and all streams, and no other user does', async () => {
  const lobby = await openLobby();
  const { postroom, query } = lobby;
  const bob = await postroom.signUp('Bob');
  const first = await fillSocket(lobby, bearer(bob));
  const second = await ProtocolSocket.open(postroom.webSocketUrl, { init: bearer(lobby.ada) });
  await second.follow('1', query);
  const forms = streamForms.map(([, form]) =>
    EventStream.open(postroom.graphqlUrl, query, { ...bearer(bob), ...form }),
  );
  const streams = await Promise.all(forms);
  const anonymous = await EventStream.open(postroom.graphqlUrl, query);
  await postroom.ask(
    'mutation ($id: ID!) { deleteUser(input: { id: $id }) { user { id } } }',
    { id: bob.id },
    bob.token,
  );
  expect(await first.closed).toEqual({ code: 4403, reason: 'Forbidden' });
  for (const stream of streams) {
    await stream.closed;
    expect(stream.received.slice(1)).toMatchObject([
      { event: 'next', data: { errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] } },
      { event: 'complete' },
    ]);
  }
  await untilCounts(postroom, { websockets: 1, subscribers: 2 });
  await second.settle();
  second.webSocket.close();
  anonymous.response.destroy();
  await expectNothingLeft(lobby);
});

it('a socket is closed with 4403 when its token expires, and then runs and receives nothing, whatever its client sends', async () => {
  const tokens = new TokenMaker();
  const lobby = await withVirtualTimers(() => openLobby({ SESSION_KEY: tokens.sessionKey }), { withClock: true });
  const { postroom, ada, room, query } = lobby;
  const ticket = await tokens.sign(ada.id, 30);
  const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init: { authorization: `Bearer ${ticket}` } });
  await socket.follow('1', query);
  // The client does not answer the close frame: the test takes the bytes before they reach the WebSocket.
  const bytes: Buffer[] = [];
  socket.rawSocket.removeAllListeners('data').on('data', (chunk: Buffer) => bytes.push(chunk));
  advanceTime(31_000);
  await untilCounts(postroom, { subscribers: 0, feeds: 0 });
  const mutation = 'mutation { createRoom(input: { name: "too late" }) { room { id } } }';
  socket.send({ type: 'subscribe', id: '2', payload: { query: mutation } }, { type: 'ping' });
  await postroom.createPost(ada, room, 'unheard');
  // The server terminates the connection of a client that does not answer.
  advanceTime(30_000);
  await untilCounts(postroom, nothingLeft);
  // The close frame is the last frame: opcode 88, length 2 + 9, code 4403, reason "Forbidden".
  const closeFrame = Buffer.concat([Buffer.from([0x88, 11, 4403 >> 8, 4403 & 255]), Buffer.from('Forbidden')]);
  expect(Buffer.concat(bytes).subarray(-closeFrame.length)).toEqual(closeFrame);
  expect(await postroom.ask('{ roomByName(name: "too late") { id } }')).toEqual({ roomByName: null });
});

it('a token that expires far in the future keeps its socket open', async () => {
  const tokens = new TokenMaker();
  const { postroom, ada, room, query } = await openLobby({ SESSION_KEY: tokens.sessionKey });
  const authorization = `Bearer ${await tokens.sign(ada.id, 365 * 86_400)}`;
  const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init: { authorization } });
  await socket.follow('1', query);
  await postroom.createPost(ada, room, 'heard');
  expect(await socket.take()).toMatchObject({ type: 'next' });
  expect(postroom.log).toEqual([]);
});

it('a shutdown closes every socket with 1012, ends every stream, and leaves no resource', async () => {
  const lobby = await openLobby({ LOG_LEVEL: 'debug' });
  const { postroom, query } = lobby;
  const full = await fillSocket(lobby);
  const stream = await EventStream.open(postroom.graphqlUrl, query);
  const multipart = await EventStream.open(postroom.graphqlUrl, query, multipartHeaders);
  // A socket without connection_init, a socket that reads nothing, and a TCP connection that sends nothing.
  const early = await ProtocolSocket.open(postroom.webSocketUrl, { init: false });
  const paused = await ProtocolSocket.open(postroom.webSocketUrl);
  paused.rawSocket.pause();
  const bare = connect(Number(new URL(postroom.url).port), '127.0.0.1').on('error', () => {});
  await once(bare, 'connect');
  const stopped = postroom.stop();
  for (const socket of [full, early]) {
    expect(await socket.closed).toEqual({ code: 1012, reason: 'Shutting down' });
  }
  await Promise.all([stream.closed, multipart.closed]);
  expect(await stopped).toBe(0);
  const { counts } = postroom.log.find(({ msg }) => msg === 'closed') ?? {};
  expect(counts).toMatchObject({ feeds: 0, groups: 0, subscribers: 0, busListeners: 0 });
  expect(postroom.log.filter(({ level }) => Number(level) > 30)).toEqual([]);
});

it('a socket that connects during a shutdown is refused, and does not delay the shutdown', async () => {
  const { postroom } = await openLobby({});
  const early = await ProtocolSocket.open(postroom.webSocketUrl);
  const paused = await ProtocolSocket.open(postroom.webSocketUrl);
  paused.rawSocket.pause();
  const late = await RawConnection.open(postroom);
  // The answer to the first request shows that the server has read both: Node 26 closes a connection that has sent nothing.
  late.send(
    'GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n' +
      'GET /graphql HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n' +
      'sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n',
  );
  expect(await late.receive()).toMatchObject({ status: 200 });
  const stopped = postroom.stop();
  expect(await early.closed).toMatchObject({ code: 1012 });
  late.send('\r\n');
  expect(await late.receive()).toMatchObject({ status: 503 });
  expect(await stopped).toBe(0);
});
