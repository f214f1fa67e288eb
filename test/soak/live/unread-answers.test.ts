import { afterAll, beforeAll, expect, it } from 'vitest';
import { graphqlResponse, RawConnection } from '../../support/clients/http.ts';
import { peakMemoryOf } from '../../support/clients/load.ts';
import { ProtocolSocket } from '../../support/clients/protocol-socket.ts';
import { untilCounts } from '../../support/engine/metrics.ts';
import { launch, type PostroomProcess } from '../../support/server/postroom.ts';

/** Each response has 8 MB. */
const query = '{ posts(limit: 100) { data { body } } }';
const connections = 10;
const questions = 8;
/**
 * The limit of the growth, in MiB. Without a budget the unread answers take more than 1,000. With it the growth is mostly
 * garbage that V8 has not collected yet, and differs from run to run.
 */
const maxGrowth = 500;
let postroom: PostroomProcess;

async function fill(): Promise<void> {
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'hall');
  for (let index = 0; index < 100; index += 1) await postroom.createPost(ada, room, 'long', '😀'.repeat(20_000));
}

beforeAll(async () => {
  postroom = await launch();
  await fill();
});
afterAll(async () => void (await postroom.stop()));

/** The growth of the process's peak memory during `work`, in MiB, measured after one such response. */
async function growthBy(work: () => Promise<void>): Promise<number> {
  await postroom.ask(query);
  const before = peakMemoryOf(postroom);
  await work();
  return peakMemoryOf(postroom) - before;
}

/** Resolves when the server refuses a new request of a client that has no unread responses. */
async function untilRefused(): Promise<void> {
  await expect
    .poll(async () => (await postroom.send('{ __typename }')).status, { timeout: 60_000, interval: 50 })
    .toBe(503);
}

it('pipelined answers that the client does not read do not accumulate', async () => {
  const sent = await Promise.all(Array.from({ length: connections }, () => RawConnection.open(postroom)));
  const body = JSON.stringify({ query });
  const head = `POST /graphql HTTP/1.1\r\nhost: localhost\r\naccept: ${graphqlResponse}\r\ncontent-type: application/json\r\n`;
  const growth = await growthBy(async () => {
    for (const connection of sent) {
      connection.pause();
      connection.send(`${head}content-length: ${body.length}\r\n\r\n${body}`.repeat(questions));
    }
    await untilRefused();
  });
  const statuses: number[] = [];
  for (const connection of sent) {
    connection.resume();
    for (let index = 0; index < questions; index += 1) statuses.push((await connection.receive()).status);
    connection.leave();
  }
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
  expect(growth).toBeLessThan(maxGrowth);
});

it('pages that the client does not read share their memory', async () => {
  const page = 'GET /graphql HTTP/1.1\r\nhost: localhost\r\naccept: text/html\r\n\r\n';
  expect((await fetch(postroom.graphqlUrl, { headers: { accept: 'text/html' } })).status).toBe(200);
  const growth = await growthBy(async () => {
    for (let index = 0; index < 300; index += 1) {
      const connection = await RawConnection.open(postroom);
      connection.pause();
      connection.send(page.repeat(8));
    }
    await untilCounts(postroom, { http_server_active_requests: 2_401 });
  });
  expect(growth).toBeLessThan(100);
});

it('WebSocket results that the client does not read do not accumulate', async () => {
  const sockets = await Promise.all(
    Array.from({ length: connections }, () => ProtocolSocket.open(postroom.webSocketUrl)),
  );
  const growth = await growthBy(async () => {
    for (const socket of sockets) {
      socket.rawSocket.pause();
      for (let index = 0; index < questions; index += 1) socket.subscribe(String(index), query);
    }
    await untilRefused();
  });
  for (const socket of sockets) {
    socket.rawSocket.resume();
    for (let index = 0; index < questions; index += 1) await socket.take(({ type }) => type === 'complete');
  }
  expect(growth).toBeLessThan(maxGrowth);
});
