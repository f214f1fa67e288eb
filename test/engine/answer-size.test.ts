import { describe, expect, it } from 'vitest';
import { EventStream } from '../support/clients/event-stream.ts';
import { exchange, post, postOf, RawConnection } from '../support/clients/http.ts';
import { makePosts } from '../support/clients/load.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { readSeries } from '../support/engine/metrics.ts';
import { launchForTest, type Person, type Postroom } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

const limit = 20_000;
const server = shareServer({ LIMIT_ANSWER_BYTES: String(limit), LIMIT_COST: '100000', LOG_LEVEL: 'debug' });
const tooLong = `The answer is longer than ${limit} bytes.`;

interface RoomFixture {
  ada: Person;
  room: string;
}

let halls = 0;

/** Creates a room with `posts` posts. The body of each post is `emoji` emoji of four bytes. */
async function openRoomFixture(posts: number, emoji: number): Promise<RoomFixture> {
  const { postroom } = server;
  const ada = await postroom.signUp('Ada');
  halls += 1;
  const room = await postroom.createRoom(ada, `hall ${halls}`);
  for (let index = 0; index < posts; index += 1) await postroom.createPost(ada, room, 'long', '😀'.repeat(emoji));
  return { ada, room };
}

const bodies = ({ room }: RoomFixture, count: number) =>
  `{ room(id: "${room}") { posts(first: ${count}) { nodes { body } } } }`;

describe('an answer that is too long', () => {
  it('is refused by its size in bytes; an answer one byte shorter is not', async () => {
    const hall = await openRoomFixture(1, 4_000);
    const query = (length: number) => bodies(hall, 1).replace('body', `${'a'.repeat(length)}: body`);
    const { body } = await post(server.postroom, query(1));
    const fits = 1 + limit - Buffer.byteLength(body);
    const exact = await post(server.postroom, query(fits));
    expect({ status: exact.status, bytes: Buffer.byteLength(exact.body) }).toEqual({ status: 200, bytes: limit });
    const refused = await post(server.postroom, query(fits + 1));
    expect(refused).toMatchObject({ status: 422, code: 'COST_LIMIT_EXCEEDED', errors: [{ message: tooLong }] });
    expect(JSON.parse(refused.body)).not.toHaveProperty('data');
  });

  it('arrives over a WebSocket as over HTTP when it is just within the limit, and is then complete', async () => {
    const hall = await openRoomFixture(1, 4_000);
    const { body } = await post(server.postroom, bodies(hall, 1));
    const socket = await ProtocolSocket.open(server.postroom.webSocketUrl);
    const id = 'a "quoted" id';
    socket.subscribe(id, bodies(hall, 1));
    expect(await socket.take()).toEqual({ id, type: 'next', payload: JSON.parse(body) });
    expect(await socket.take()).toEqual({ id, type: 'complete' });
  });

  it('is refused over a WebSocket and as an event stream too', async () => {
    const hall = await openRoomFixture(8, 1_000);
    const refused = { errors: [{ message: tooLong, extensions: { code: 'COST_LIMIT_EXCEEDED' } }] };
    const socket = await ProtocolSocket.open(server.postroom.webSocketUrl);
    socket.subscribe('1', bodies(hall, 8));
    expect((await socket.take()).payload).toEqual(refused);
    const streamed = await exchange(server.postroom, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query: bodies(hall, 8) }),
    });
    expect(streamed.status).toBe(422);
    expect(JSON.parse(streamed.body)).toEqual(refused);
  });

  it('is refused also when the counted values come from resolvers, are null, or are not text', async () => {
    const hall = await openRoomFixture(1, 1);
    const names = Array.from({ length: 30 }, (_, index) => `${'n'.repeat(1_000)}${index}`);
    const select = (field: string) =>
      `{ room(id: "${hall.room}") { ${names.map((name) => `${name}: ${field}`).join(' ')} } }`;
    for (const field of ['viewerRole', 'createdAt', 'version', 'name', 'owner { id }', '__typename']) {
      expect(await post(server.postroom, select(field))).toMatchObject({ status: 422, code: 'COST_LIMIT_EXCEEDED' });
    }
  });

  it('stops further reads of its operation', async () => {
    const hall = await openRoomFixture(8, 1_000);
    const { log } = server.postroom;
    const aliases = Array.from({ length: 30 }, (_, index) => `a${index}: ${bodies(hall, 8).slice(1, -1)}`);
    const before = log.length;
    expect(await post(server.postroom, `{ ${aliases.join(' ')} }`)).toMatchObject({ code: 'COST_LIMIT_EXCEEDED' });
    // Statements are logged after the answer. The statement of a second operation marks the end of the first.
    await server.postroom.send('{ roomByName(name: "end of the statements") { id } }');
    const isMark = ({ sql }: Record<string, unknown>) => / from "rooms" where .*"name" = /.test(String(sql));
    await expect.poll(() => log.slice(before).some(isMark)).toBe(true);
    const statements = log.slice(before).filter(({ msg }) => msg === 'statement');
    expect(statements.findIndex(isMark)).toBeGreaterThan(0);
    expect(statements.findIndex(isMark)).toBeLessThan(10);
  });

  describe('of a mutation', () => {
    const all = 'room { posts(first: 100) { nodes { body } } }';

    async function createThree(emoji: number) {
      const { ada, room } = await openRoomFixture(8, emoji);
      const { postroom } = server;
      const create = (title: string, selected: string) =>
        `${title}: createPost(input: { room: "${room}", title: "${title}" }) { post { ${selected} } }`;
      const mutation = `mutation { ${create('first', 'id')} ${create('second', all)} ${create('third', 'id')} }`;
      const reply = await postroom.send(mutation, {}, ada.token);
      const { posts } = await postroom.ask(`{ posts(limit: 100, filter: { room: "${room}" }) { data { title } } }`);
      const made = posts.data.map(({ title }: { title: string }) => title).slice(8);
      return { ...reply, made };
    }

    it('ends the mutation, and the error says which changes were made', async () => {
      const { status, data, errors, made } = await createThree(2_000);
      const outcome =
        'The change of "second" was made, as were those before it without an error; the fields after it did not run.';
      expect({ status, data, errors }).toMatchObject({
        status: 294,
        data: null,
        errors: [{ path: ['second'], message: `${tooLong} ${outcome}`, extensions: { code: 'COST_LIMIT_EXCEEDED' } }],
      });
      expect(made).toEqual(['first', 'second']);
    });

    it('says that all changes were made, when only the answer is too long', async () => {
      // Execution counts characters; the bytes are measured afterwards. The 8,000 emoji are 16,000 characters (UTF-16
      // code units), which is below the limit, and 32,000 bytes, which is above it.
      const { status, errors, made } = await createThree(1_000);
      const message = `${tooLong} The changes without an error were made.`;
      expect({ status, errors }).toMatchObject({ status: 294, errors: [{ message }] });
      expect(made).toEqual(['first', 'second', 'third']);
    });

    it('says which changes were not made, when only the answer is too long', async () => {
      const { ada, room } = await openRoomFixture(8, 1_000);
      const create = (input: string, selected: string) => `createPost(input: { ${input} }) { post { ${selected} } }`;
      const mutation = `mutation { a: ${create(`room: "${room}", title: "a"`, all)} b: ${create('room: "none", title: "b"', 'id')} }`;
      expect(await server.postroom.send(mutation, {}, ada.token)).toMatchObject({
        status: 294,
        data: undefined,
        errors: [{ extensions: { code: 'COST_LIMIT_EXCEEDED' } }, { path: ['b'], extensions: { code: 'NOT_FOUND' } }],
      });
    });
  });

  it('of an event becomes an error with its cursor, and the stream continues', async () => {
    const hall = await openRoomFixture(8, 1_000);
    const { postroom } = server;
    const query = `subscription { roomEvents(room: "${hall.room}") {
      __typename ... on PostCreated { post { title room { posts(first: 100) { nodes { body } } } } } } }`;
    const socket = await ProtocolSocket.open(postroom.webSocketUrl);
    await socket.follow('1', query);
    const stream = await EventStream.open(postroom.graphqlUrl, query);
    await postroom.createPost(hall.ada, hall.room, 'too much to tell');
    const rename = 'mutation ($room: ID!) { updateRoom(input: { id: $room, name: "renamed" }) { room { id } } }';
    await postroom.ask(rename, { room: hall.room }, hall.ada.token);
    const { payload } = await socket.take(({ type }) => type === 'next');
    expect(payload).toMatchObject({
      errors: [{ message: tooLong, extensions: { code: 'COST_LIMIT_EXCEEDED' } }],
      extensions: { live: { cursor: expect.any(String) } },
    });
    expect(payload).not.toHaveProperty('data');
    const next = await socket.take(({ type }) => type === 'next');
    expect(next.payload.data).toEqual({ roomEvents: { __typename: 'RoomUpdated' } });
    const { data } = await stream.take(({ event }) => event === 'next');
    expect(data).toEqual(payload);
    stream.response.destroy();
  });
});

describe('answers that are not read', () => {
  /** The bodies of posts. */
  const longest = { bytes: 80_000, letter: '😀' };

  it('are limited for each address: nothing more runs for it until it has read them', async () => {
    const postroom = await launchForTest({ LIMIT_ANSWER_BYTES: '4000000', LIMIT_COST: '100000', TRUST_PROXY: '1' });
    const ada = await postroom.signUp('Ada');
    const room = await postroom.createRoom(ada, 'hall');
    await makePosts(postroom, { author: ada, room, count: 50, ...longest });
    const body = JSON.stringify({ query: '{ posts(limit: 40) { data { body } } }' });
    const head = (address: string) =>
      `POST /graphql HTTP/1.1\r\nhost: localhost\r\nx-forwarded-for: ${address}\r\ncontent-type: application/json\r\n`;
    const connection = await RawConnection.open(postroom);
    connection.pause();
    const count = 10;
    for (let index = 0; index < count; index += 1)
      connection.send(`${head('10.0.0.1')}content-length: ${body.length}\r\n\r\n${body}`);
    const send = (address: string) =>
      post(postroom, `mutation { createPost(input: { room: "${room}", title: "${address}" }) { post { id } } }`, {
        headers: { 'x-forwarded-for': address, authorization: `Bearer ${ada.token}` },
      });
    const statusOf = async () =>
      (await post(postroom, '{ __typename }', { headers: { 'x-forwarded-for': '10.0.0.1' } })).status;
    await expect.poll(statusOf).toBe(503);
    const refused = await send('10.0.0.1');
    expect(refused).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE', headers: { 'retry-after': '1' } });
    // Another address is not affected, and the refused mutations did not run.
    expect((await send('10.0.0.2')).status).toBe(200);
    const { posts } = await postroom.ask(`{ posts(limit: 100) { data { title } pagination { total } } }`);
    expect(posts.data.filter(({ title }: { title: string }) => title === '10.0.0.1')).toEqual([]);
    connection.resume();
    const statuses: number[] = [];
    for (let index = 0; index < count; index += 1) statuses.push((await connection.receive()).status);
    // How many are refused depends on the system's socket buffers, and on how many had run before the client resumed.
    expect(statuses[0]).toBe(200);
    expect([200, 503]).toEqual(expect.arrayContaining(statuses));
    await expect.poll(statusOf).toBe(200);
    expect((await send('10.0.0.1')).status).toBe(200);
  });

  const askers = {
    async HTTP(postroom: Postroom, query: string) {
      const connection = await RawConnection.open(postroom);
      connection.pause();
      connection.send(postOf(query));
    },
    async WebSocket(postroom: Postroom, query: string) {
      const socket = await ProtocolSocket.open(postroom.webSocketUrl);
      socket.rawSocket.pause();
      socket.subscribe('1', query);
    },
  };

  it.each(
    Object.entries(askers),
  )('keep queries that wait for their turn from running, when they have used up the memory of the address: %s', async (_, askAndPause) => {
    const postroom = await launchForTest({
      LIMIT_ANSWER_BYTES: '8000000',
      LIMIT_COST: '100000',
      LOG_LEVEL: 'debug',
      RATE_LIMIT: '0',
    });
    const ada = await postroom.signUp('Ada');
    const room = await postroom.createRoom(ada, 'hall');
    await makePosts(postroom, { author: ada, room, count: 100, ...longest });
    const from = postroom.log.length;
    const count = 24;
    for (let index = 0; index < count; index += 1)
      await askAndPause(postroom, '{ posts(limit: 80) { data { body } } }');
    const finished = async () => {
      const { 'query OK': ok = 0, 'query SERVICE_UNAVAILABLE': refused = 0 } = await readSeries(
        postroom,
        'postroom_operations_total',
      );
      return ok + refused;
    };
    await expect.poll(finished).toBe(count);
    const statements = postroom.log
      .slice(from)
      .filter(({ msg, sql }) => msg === 'statement' && /"body"/.test(String(sql)));
    expect(statements.length).toBeGreaterThan(0);
    expect(statements.length).toBeLessThan(count / 2);
  });

  it('are limited also when the request itself never ends', async () => {
    const postroom = await launchForTest({ LIMIT_COST: '100000', TRUST_PROXY: '1' });
    const ada = await postroom.signUp('Ada');
    const room = await postroom.createRoom(ada, 'hall');
    await makePosts(postroom, { author: ada, room, count: 100, ...longest });
    const query = encodeURIComponent('{ posts(limit: 100) { data { body } } }');
    const statusOf = async () => {
      const connection = await RawConnection.open(postroom);
      connection.send(
        `GET /graphql?query=${query} HTTP/1.1\r\nhost: localhost\r\nx-forwarded-for: 10.0.0.1\r\ntransfer-encoding: chunked\r\n\r\n`,
      );
      const status = await connection.receiveStatus();
      connection.pause();
      return status;
    };
    let answered = 0;
    while ((await statusOf()) === 200) {
      answered += 1;
      expect(answered).toBeLessThan(10);
    }
    // Another address is not affected.
    expect((await post(postroom, '{ __typename }', { headers: { 'x-forwarded-for': '10.0.0.2' } })).status).toBe(200);
  });
});
