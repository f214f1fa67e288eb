import { expect, it } from 'vitest';
import { exchange, RawConnection } from '../support/clients/http.ts';
import { launchForTest, type Postroom } from '../support/server/postroom.ts';

/* Work that arrives at once, in many small pieces or over many connections, is done in several turns of the event loop. */

const health = 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n';
const chunked = 'Transfer-Encoding: chunked';

const read = `GET /graphql?query=${encodeURIComponent('{ users(limit: 1) { data { id } } }')} HTTP/1.1\r\nHost: localhost\r\nApollo-Require-Preflight: 1\r\n\r\n`;

/** The head of a POST; the given line describes the body. */
function headOf(line: string): string {
  return `POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${line}\r\n\r\n`;
}

/** A connection that the server has accepted. */
async function openAccepted(postroom: Postroom, localAddress?: string): Promise<RawConnection> {
  const connection = await RawConnection.open(postroom, localAddress);
  connection.send(health);
  expect((await connection.receive()).status).toBe(200);
  return connection;
}

it.each([
  ['bodies in short chunks', 40, 1, `${headOf(chunked)}${'1\r\n \r\n'.repeat(1_000)}0\r\n\r\n`, health, 20],
  ['requests', 120, 9, 'GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n', health, 540],
  ['reads of the database', 120, 9, read, read, 540],
])('%s that arrive together over many connections do not delay another address until all are answered', async (_what, count, each, request, other, most) => {
  const postroom = await launchForTest();
  const neighbour = await openAccepted(postroom, '127.0.0.2');
  const connections = await Promise.all(Array.from({ length: count }, () => openAccepted(postroom)));
  let answered = 0;
  const all = connections.map(async (connection) => {
    connection.send(request.repeat(each));
    for (let index = 0; index < each; index += 1) {
      await connection.receive();
      answered += 1;
    }
  });
  await Promise.race(all);
  neighbour.send(other);
  expect((await neighbour.receive()).status).toBe(200);
  expect(answered).toBeLessThan(most);
  await Promise.all(all);
});

it('requests that wait for the first page of GraphiQL are answered in several turns of the event loop', async () => {
  const postroom = await launchForTest();
  const neighbour = await openAccepted(postroom);
  const connections = await Promise.all(Array.from({ length: 100 }, () => openAccepted(postroom)));
  let begun = 0;
  const all = connections.map(async (connection) => {
    connection.send('GET /graphql HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n\r\n');
    expect(await connection.receiveStatus()).toBe(200);
    begun += 1;
    connection.leave();
  });
  await Promise.race(all);
  neighbour.send(health);
  expect((await neighbour.receive()).status).toBe(200);
  expect(begun).toBeLessThan(50);
  await Promise.all(all);
});

it('requests for the page of GraphiQL count for the rate of their address, but not those that a page of another origin makes', async () => {
  const postroom = await launchForTest({ RATE_LIMIT: '2' });
  const ask = (mode?: string) => {
    const fetched = mode === undefined ? {} : { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': mode };
    return exchange(postroom, { headers: { accept: 'text/html', ...fetched } });
  };
  for (let count = 0; count < 3; count += 1) expect((await ask('no-cors')).status).toBe(403);
  expect((await ask()).status).toBe(200);
  expect((await ask('navigate')).status).toBe(200);
  expect(await ask()).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
});

it('a body in thousands of chunks of a byte is refused with 413; one in many chunks of a packet is not', async () => {
  const postroom = await launchForTest();
  const connection = await RawConnection.open(postroom);
  const body = '{"query":"{ __typename }"}';
  const last = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  connection.send(`${headOf(chunked)}${`200\r\n${' '.repeat(512)}\r\n`.repeat(1_900)}${last}`);
  expect((await connection.receive()).status).toBe(200);
  connection.send(`${headOf(chunked)}${'1\r\n \r\n'.repeat(2_000)}${last}`);
  expect(await connection.receive()).toMatchObject({ status: 413, code: 'PAYLOAD_TOO_LARGE' });
  expect(await connection.closed()).toBe('');
});

it('a body that no route reads ends its connection, however short its chunks are', async () => {
  const postroom = await launchForTest();
  const connection = await RawConnection.open(postroom);
  connection.send(`GET /health HTTP/1.1\r\nHost: localhost\r\n${chunked}\r\n\r\n${'1\r\n \r\n'.repeat(2_000)}`);
  expect(await connection.receive()).toMatchObject({ status: 200, headers: { connection: 'close' } });
  expect(await connection.closed()).toBe('');
});

it('unfinished bodies of one address leave memory for large bodies of another address', async () => {
  const postroom = await launchForTest();
  const held = await Promise.all(Array.from({ length: 24 }, () => RawConnection.open(postroom)));
  for (const connection of held) {
    connection.send(headOf('Content-Length: 990000'));
    connection.send(' '.repeat(989_999));
  }
  await Promise.any(held.map((connection) => connection.receive()));
  const other = await RawConnection.open(postroom, '127.0.0.2');
  const body = JSON.stringify({ query: '{ __typename }', padding: ' '.repeat(900_000) });
  for (let count = 0; count < 10; count += 1) {
    other.send(`${headOf(`Content-Length: ${body.length}`)}${body}`);
    expect((await other.receive()).status).toBe(200);
  }
});
