import { EventStream } from '../clients/event-stream.ts';
import { handshake, postOf, RawConnection } from '../clients/http.ts';
import { ProtocolSocket } from '../clients/protocol-socket.ts';
import { presenceQuery } from '../rooms/present.ts';
import type { Person, Postroom } from '../server/postroom.ts';

/* What clients do, so that a server passes all its boundaries. Each workload ends also if its connection is ended. */

export interface Scene {
  postroom: Postroom;
  metricsUrl: string;
  author: Person;
  /** No other client follows it. */
  room: string;
  /** Has 20 long posts. */
  longRoom: string;
  /** The status of each answer, the close code of each WebSocket, or `destroyed`. */
  endings: Ending[];
  untilPassed: (id: string) => Promise<unknown>;
  /** Resolves when a boundary has thrown, or with `ended`; at once if none is armed. */
  untilThrown: (ended: Promise<unknown>) => Promise<unknown>;
}

/** The connection ended before the answer, or by itself. */
export const destroyed = 'destroyed';
export const closed = 'closed';
type Ending = number | string;

export type Workload = (scene: Scene) => Promise<void>;

const events = 'subscription ($room: ID!) { roomEvents(room: $room) { __typename } }';
/** The answer is longer than the buffers of both sockets. */
const longQuery = `{ ${Array.from({ length: 30 }, (_, index) => `a${index}: room(id: "ROOM") { posts(last: 20) { nodes { body } } }`).join(' ')} }`;

async function overHttp(scene: Scene, work: (connection: RawConnection) => Promise<Ending>): Promise<void> {
  const connection = await RawConnection.open(scene.postroom);
  try {
    scene.endings.push(await work(connection));
  } catch {
    scene.endings.push(destroyed);
  }
  connection.leave();
}

/** Sends the parts one after the other, and takes the status of the answer. */
function request(...parts: string[]): Workload {
  return (scene) =>
    overHttp(scene, async (connection) => {
      for (const part of parts) {
        connection.send(part);
        await turn();
      }
      return connection.receiveStatus();
    });
}

/** Resolves in another turn of the event loop, so that the next bytes are another packet. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function overWebSocket(
  scene: Scene,
  work: (socket: ProtocolSocket) => Promise<unknown>,
  init: unknown = {},
): Promise<void> {
  let socket: ProtocolSocket;
  try {
    socket = await ProtocolSocket.open(scene.postroom.webSocketUrl, { init: false });
  } catch {
    scene.endings.push(destroyed);
    return;
  }
  try {
    socket.send({ type: 'connection_init', payload: init });
    await socket.take(({ type }) => type === 'connection_ack');
    await work(socket);
    await socket.close();
  } catch {
    socket.webSocket.terminate();
  }
  scene.endings.push((await socket.closed).code);
}

async function overEventStream(
  scene: Scene,
  work: (stream: EventStream) => Promise<unknown>,
  authorization?: string,
): Promise<void> {
  const { room, postroom } = scene;
  try {
    const headers = authorization === undefined ? undefined : { authorization };
    const stream = await EventStream.open(postroom.graphqlUrl, events, headers, { room });
    if (stream.status === 200) await work(stream);
    const isCut = stream.response.closed && !stream.received.some(({ event }) => event === 'complete');
    scene.endings.push(isCut ? destroyed : stream.status);
    stream.close();
  } catch {
    scene.endings.push(destroyed);
  }
}

/** An API key, and the change that revokes it. */
async function createKey({ postroom, author }: Scene): Promise<{ key: string; revoke: () => Promise<unknown> }> {
  const create = 'mutation { createApiKey(input: { name: "app", scopes: [READ] }) { key apiKey { id } } }';
  const { key, apiKey } = (await postroom.ask(create, {}, author.token)).createApiKey;
  const revoke = `mutation { revokeApiKey(input: { id: "${apiKey.id}" }) { apiKey { id } } }`;
  return { key, revoke: () => postroom.ask(revoke, {}, author.token) };
}

/** Asks, and resolves when the server has written the answer. */
async function untilAnswered({ metricsUrl }: Scene, ended: Promise<unknown>, ask: () => void): Promise<void> {
  const read = async () => {
    const lines = (await (await fetch(metricsUrl)).text()).split('\n');
    const counts = lines.filter((line) => /^postroom_operations_total\{.*type="query"/.test(line));
    return counts.reduce((sum, line) => sum + Number(line.split(' ')[1]), 0);
  };
  const before = await read();
  ask();
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  while (!hasEnded && (await read()) === before);
}

/** Reads nothing until a long answer waits for it. */
async function readLate(
  scene: Scene,
  connection: { pause: () => void; resume: () => void; closed: Promise<unknown> },
  ask: (query: string) => void,
): Promise<void> {
  const query = longQuery.replaceAll('ROOM', scene.longRoom);
  connection.pause();
  await untilAnswered(scene, connection.closed, () => ask(query));
  connection.resume();
}

/** The handshake waits, because its address has 100 sockets that have not sent a message. */
async function withPendingHandshake(
  scene: Scene,
  work: (connection: RawConnection) => Promise<unknown>,
): Promise<void> {
  const silent: ProtocolSocket[] = [];
  for (let count = 0; count < 100; count += 1)
    silent.push(await ProtocolSocket.open(scene.postroom.webSocketUrl, { init: false }));
  await overHttp(scene, async (connection) => {
    connection.send(handshake);
    await work(connection);
    return closed;
  });
  for (const { webSocket } of silent) webSocket.terminate();
  await Promise.all(silent.map((socket) => socket.closed));
}

async function createPost({ postroom, author, room }: Scene): Promise<unknown> {
  return postroom.createPost(author, room, 'news');
}

const head = 'Host: localhost\r\nContent-Type: application/json\r\n';
const chunked = `POST /graphql HTTP/1.1\r\n${head.replace('json', 'xml')}Transfer-Encoding: chunked\r\n\r\n`;
let accounts = 0;

export const workloads: Readonly<Record<string, Workload>> = {
  get: request('GET /graphql?query={__typename} HTTP/1.1\r\nHost: localhost\r\n\r\n'),
  'post in two parts': request(postOf('{ __typename }').slice(0, -5), postOf('{ __typename }').slice(-5)),
  'a slow operation': (scene) =>
    overHttp(scene, (connection) => {
      accounts += 1;
      const input = `{ name: "New", email: "new${accounts}@example.org", password: "correct horse" }`;
      connection.send(postOf(`mutation { signUp(input: ${input}) { user { id } } }`));
      return connection.receiveStatus();
    }),
  'an incomplete body': (scene) =>
    overHttp(scene, async (connection) => {
      connection.send(postOf('{ __typename }').slice(0, -5));
      await scene.untilPassed("transport/http/request.ts: exchange.request.on('data')");
      connection.reset();
      await scene.untilPassed("transport/http/request.ts: exchange.request.on('error')");
      return closed;
    }),
  'no HTTP': request('hello\r\n\r\n'),
  'no HTTP after an answer that waits': request(
    `${postOf('{ __typename }')}OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\nhello\r\n\r\n`,
  ),
  connect: request('CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n'),
  'expect 100': request(`POST /graphql HTTP/1.1\r\nExpect: 100-continue\r\n${head}Content-Length: 2\r\n\r\n`, '{}'),
  'expect more': request(`POST /graphql HTTP/1.1\r\nExpect: more\r\n${head}Content-Length: 2\r\n\r\n{}`),
  'an upgrade of another path': request(handshake.replace('/graphql', '/other')),
  'no request': (scene) =>
    overHttp(scene, async (connection) => {
      await connection.closed();
      return closed;
    }),
  'a refused body': request(chunked, '2\r\n{}\r\n', '0\r\n\r\n'),
  'a refused body that does not end': (scene) =>
    overHttp(scene, async (connection) => {
      connection.send(chunked);
      await scene.untilThrown(connection.closed());
      return closed;
    }),
  'a long answer': (scene) =>
    overHttp(scene, async (connection) => {
      const closed = connection.closed();
      await readLate(scene, { pause: () => connection.pause(), resume: () => connection.resume(), closed }, (query) =>
        connection.send(postOf(query)),
      );
      return (await connection.receive()).status;
    }),
  metrics: async (scene) => {
    const { status } = await fetch(scene.metricsUrl, { headers: { connection: 'close' } }).catch(() => ({
      status: destroyed,
    }));
    scene.endings.push(status);
  },
  'an event stream': (scene) =>
    overEventStream(scene, async (stream) => {
      await Promise.all([stream.take(), createPost(scene)]);
    }),
  'an event stream that is idle': (scene) => overEventStream(scene, async (stream) => scene.untilThrown(stream.closed)),
  'an event stream with a key': async (scene) => {
    const { key, revoke } = await createKey(scene);
    await overEventStream(scene, (stream) => Promise.all([stream.closed, revoke()]), `ApiKey ${key}`);
  },
  'a WebSocket': (scene) =>
    overWebSocket(scene, async (socket) => {
      socket.webSocket.ping();
      await socket.settle();
      await socket.follow('e', events, { room: scene.room });
      await Promise.all([socket.take(({ type }) => type === 'next'), createPost(scene)]);
      socket.complete('e');
      await socket.settle();
    }),
  'a subscription to a state': (scene) =>
    overWebSocket(scene, async (socket) => {
      const { results } = socket.subscribe('p', presenceQuery, { room: scene.room, visible: true });
      await results.next();
      await socket.settle();
    }),
  'a WebSocket with an operation at its end': (scene) =>
    overWebSocket(scene, async (socket) => {
      await socket.follow('e', events, { room: scene.room });
    }),
  'a WebSocket with credentials': async (scene) => {
    const { key, revoke } = await createKey(scene);
    await overWebSocket(scene, (socket) => Promise.all([socket.closed, revoke()]), { authorization: `ApiKey ${key}` });
  },
  'a WebSocket with a session': (scene) =>
    overWebSocket(scene, (socket) => scene.untilThrown(socket.closed), {
      authorization: `Bearer ${scene.author.token}`,
    }),
  'an invalid message': (scene) =>
    overWebSocket(scene, async (socket) => {
      socket.webSocket.send('[]');
      await socket.closed;
    }),
  'an invalid frame': (scene) =>
    overWebSocket(scene, async (socket) => {
      socket.rawSocket.write(Buffer.from([0xff, 0xff, 0xff, 0xff]));
      await socket.closed;
    }),
  'pings of the server': (scene) =>
    overWebSocket(scene, async (socket) => {
      const pinged = new Promise((resolve) => socket.webSocket.once('ping', resolve));
      await Promise.race([pinged, socket.closed]);
      await socket.settle();
    }),
  'long answers over a WebSocket': (scene) =>
    overWebSocket(scene, async (socket) => {
      const { rawSocket: raw, closed } = socket;
      const connection = { pause: () => void raw.pause(), resume: () => void raw.resume(), closed };
      await readLate(scene, connection, (query) => {
        socket.send({ type: 'subscribe', id: 'q', payload: { query } });
      });
      await socket.take(({ type }) => type === 'complete');
      await socket.settle();
    }),
  'a handshake that is given up': (scene) =>
    withPendingHandshake(scene, async (connection) => {
      await scene.postroom.ask('{ __typename }');
      connection.leave();
      await scene.untilPassed("transport/admission/handshake-queue.ts: socket.on('end')");
    }),
  'a handshake that waits': (scene) =>
    withPendingHandshake(scene, (connection) => scene.untilThrown(connection.closed())),
  'a long read': (scene) =>
    overHttp(scene, (connection) => {
      connection.send(postOf('{ posts(page: 50001, limit: 1) { data { id } } }'));
      return connection.receiveStatus();
    }),
};

/** The workloads of boundaries that others pass, too, but not long enough, or not on the connection in question. */
export const longer: Readonly<Record<string, keyof typeof workloads>> = {
  'data/sqlite/threads/thread.ts: contain((reply) => this.#settle(reply))': 'a long read',
  'transport/admission/handshake-queue.ts: contain(() => this.#takePending(sockets, socket)?.refuse())':
    'a handshake that waits',
  'transport/http/responses.ts: contain(end)': 'a refused body that does not end',
  "transport/http/server.ts: server.on('clientError')": 'no HTTP',
  "transport/metrics/metrics-port.ts: response.on('close')": 'metrics',
  'transport/metrics/metrics-port.ts: createContainedServer(…)': 'metrics',
};
