import { describe, expect, it } from 'vitest';
import { exchange, type HttpAnswer, handshake, post, RawConnection } from '../support/clients/http.ts';
import { shareServer } from '../support/server/shared-server.ts';

/*
 * Bytes that no client library would send. The server always answers with a status of 4xx and an error with a code, or
 * closes the connection.
 */

const server = shareServer();

const host = 'Host: localhost\r\n';
const body = '{"query":"{ __typename }"}';

function postOf(text: string, headers = ''): string {
  return `POST /graphql HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: ${text.length}\r\n${headers}\r\n${text}`;
}

/** The first answer to these bytes, over a new connection. */
async function answerTo(bytes: string): Promise<HttpAnswer> {
  const connection = await RawConnection.open(server.postroom);
  connection.send(bytes);
  return connection.receive();
}

async function expectHealthy(): Promise<void> {
  expect((await exchange(server.postroom, { path: '/ready' })).status).toBe(200);
  expect(server.postroom.log).toEqual([]);
}

describe('Host', () => {
  it.each([
    ['malformed', 'Host: a b:::\r\n'],
    ['missing', ''],
    ['empty', 'Host:\r\n'],
    ['there twice', 'Host: a\r\nhost: b\r\n'],
    ['there twice, and the same', 'Host: a\r\nHost: a\r\n'],
    ['a URL', 'Host: http://localhost\r\n'],
    ['with a user', 'Host: user@localhost\r\n'],
    ['with a path', 'Host: localhost/graphql\r\n'],
    ['with a port that is none', 'Host: localhost:port\r\n'],
    ['half an IPv6 address', 'Host: [::1\r\n'],
    ['two hosts', 'Host: localhost, example.org\r\n'],
    ['with markup', 'Host: <script>\r\n'],
    ['with a tab', 'Host: a\tb\r\n'],
  ])('%s is 400, without a stack trace', async (_, line) => {
    const answer = await answerTo(`GET /graphql?query={__typename} HTTP/1.1\r\n${line}\r\n`);
    expect(answer).toMatchObject({ status: 400, code: 'BAD_REQUEST' });
    expect(answer.body).not.toMatch(/at |node:|\.ts/);
    await expectHealthy();
  });

  it.each([
    ['localhost', 200],
    ['localhost:4000', 200],
    ['127.0.0.1:4000', 200],
    ['[::1]:4000', 200],
    ['LOCALHOST', 200],
    // The following hosts are well-formed, but are not names of this server.
    ['[2001:db8::1]', 421],
    ['xn--bcher-kva.example', 421],
    ['a_b', 421],
  ])('%s is %i', async (name, status) => {
    const answer = await answerTo(`GET /graphql?query={__typename} HTTP/1.1\r\nHost: ${name}\r\n\r\n`);
    expect(answer.status).toBe(status);
  });

  it('may be missing in HTTP/1.0', async () => {
    expect((await answerTo('GET /graphql?query={__typename} HTTP/1.0\r\n\r\n')).status).toBe(200);
  });
});

describe('the request line', () => {
  it.each([
    ['a fragment', 400, 'GET /graphql?query={__typename}#x HTTP/1.1'],
    ['bytes that are no ASCII', 400, 'GET /gr\xffphql HTTP/1.1'],
    ['a space in the path', 400, 'GET /gra phql HTTP/1.1'],
    ['a path without a slash', 400, 'GET graphql HTTP/1.1'],
    ['an asterisk', 400, 'GET * HTTP/1.1'],
    ['another scheme', 400, 'GET ftp://localhost/graphql HTTP/1.1'],
    ['a URL without a host', 400, 'GET http:///graphql HTTP/1.1'],
    ['a URL with a user', 400, 'GET http://user@localhost/graphql HTTP/1.1'],
    ['another version', 400, 'GET /graphql HTTP/3.7'],
    ['the preface of HTTP/2', 400, 'PRI * HTTP/2.0'],
    ['no version', 400, 'GET /graphql'],
    ['a method that nobody knows', 405, 'BREW /graphql HTTP/1.1'],
    ['a method in lower case', 400, 'get /graphql HTTP/1.1'],
    ['the handshake of TLS', 400, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['a tunnel', 405, 'CONNECT localhost:22 HTTP/1.1'],
    ['a path up to elsewhere', 404, 'GET /../../etc/passwd HTTP/1.1'],
    ['another host’s path', 404, 'GET //example.org/graphql HTTP/1.1'],
    ['a NUL in the path', 404, 'GET /%00 HTTP/1.1'],
  ])('with %s is %i', async (_, status, line) => {
    expect(await answerTo(`${line}\r\n${host}\r\n`)).toMatchObject({ status, code: expect.any(String) });
    await expectHealthy();
  });

  it('may have an absolute URI, as proxies send it: the host of the URI counts, not the Host header', async () => {
    const ask = (url: string, named = 'Host: example.org\r\n') => answerTo(`GET ${url} HTTP/1.1\r\n${named}\r\n`);
    const answer = await ask('http://127.0.0.1:80/graphql?query={__typename}');
    expect(answer).toMatchObject({ status: 200, data: { __typename: 'Query' } });
    expect((await ask('http://localhost?query={__typename}')).status).toBe(302);
    expect((await ask('http://example.org/graphql?query={__typename}', host)).status).toBe(421);
  });

  it('OPTIONS * answers with the allowed methods', async () => {
    const answer = await answerTo(`OPTIONS * HTTP/1.1\r\n${host}\r\n`);
    expect(answer).toMatchObject({ status: 204, headers: { allow: 'GET, HEAD, POST, OPTIONS' } });
  });

  it.each([
    [8_192, 200],
    [8_193, 414],
    [16_000, 414],
    [20_000, 414],
    [60_000, 414],
  ])('with a URI of %i bytes is %i', async (length, status) => {
    const uri = '/graphql?query={__typename}&x=';
    const answer = await answerTo(`GET ${uri}${'x'.repeat(length - uri.length)} HTTP/1.1\r\n${host}\r\n`);
    expect(answer.status).toBe(status);
    if (status === 414) expect(answer.code).toBe('URI_TOO_LONG');
  });
});

describe('header fields', () => {
  it.each([
    ['one that is too long', `X: ${'x'.repeat(17_000)}\r\n`],
    ['many that are too long together', 'X: xxxxxxxxxxxxxxxx\r\n'.repeat(1_000)],
    ['more than 2,000', 'X:y\r\n'.repeat(2_001)],
  ])('%s are 431', async (_, lines) => {
    const answer = await answerTo(`GET /graphql HTTP/1.1\r\n${host}${lines}\r\n`);
    expect(answer).toMatchObject({ status: 431, code: 'HEADERS_TOO_LARGE' });
    await expectHealthy();
  });

  it.each([
    ['a space before the colon', 'X : y'],
    ['a name that is none', 'X(y): z'],
    ['no colon', 'xyz'],
    ['a bare LF', 'X: y\nZ: z'],
    ['a NUL', 'X: \x00'],
    ['a line folded', 'X: y\r\n z'],
  ])('with %s are 400', async (_, line) => {
    const answer = await answerTo(`GET /graphql HTTP/1.1\r\n${host}${line}\r\n\r\n`);
    expect(answer).toMatchObject({ status: 400, code: 'BAD_REQUEST' });
  });
});

describe('a request smuggled within a request', () => {
  const smuggled = `GET /health HTTP/1.1\r\n${host}\r\n`;
  const chunked = `0\r\n\r\n${smuggled}`;
  it.each([
    ['a length and chunks', `Content-Length: ${chunked.length}\r\nTransfer-Encoding: chunked\r\n`, chunked],
    ['chunks and a length', `Transfer-Encoding: chunked\r\nContent-Length: ${chunked.length}\r\n`, chunked],
    ['two lengths', `Content-Length: 0\r\nContent-Length: ${smuggled.length}\r\n`, smuggled],
    ['a list of lengths', `Content-Length: 0, ${smuggled.length}\r\n`, smuggled],
    ['a length with a sign', `Content-Length: +${smuggled.length}\r\n`, smuggled],
    ['a length in hex', 'Content-Length: 0x10\r\n', smuggled],
    ['a negative length', 'Content-Length: -1\r\n', smuggled],
    ['an encoding that is almost chunked', 'Transfer-Encoding: xchunked\r\n', chunked],
    ['chunked twice', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', chunked],
    ['chunked, but not last', 'Transfer-Encoding: chunked, identity\r\n', chunked],
    ['a bad chunk size', 'Transfer-Encoding: chunked\r\n', `zz\r\n${smuggled}`],
    ['a chunk size without end', 'Transfer-Encoding: chunked\r\n', `ffffffffffffffffff\r\n${smuggled}`],
    ['a chunk longer than it says', 'Transfer-Encoding: chunked\r\n', `1\r\nxyz\r\n${chunked}`],
  ])('by %s is not accepted', async (_, headers, rest) => {
    const connection = await RawConnection.open(server.postroom);
    connection.send(`POST /graphql HTTP/1.1\r\n${host}Content-Type: application/json\r\n${headers}\r\n${rest}`);
    expect(await connection.receive()).toMatchObject({ status: 400, code: 'BAD_REQUEST' });
    expect(await connection.closed()).toBe('');
    await expectHealthy();
  });
});

describe('requests on one connection', () => {
  it('are answered in order, however many are sent at once', async () => {
    const connection = await RawConnection.open(server.postroom);
    const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
    connection.send(names.map((name) => postOf(`{"query":"{ ${name}: __typename }"}`)).join(''));
    for (const name of names) expect((await connection.receive()).data).toEqual({ [name]: 'Query' });
  });

  it('may arrive up to 65 s after the last one', async () => {
    const { headers } = await answerTo(postOf(body));
    expect(headers).toMatchObject({ connection: 'keep-alive', 'keep-alive': 'timeout=65' });
  });

  it('continue after a request that was refused before its body was read', async () => {
    const connection = await RawConnection.open(server.postroom);
    connection.send(postOf(body, 'Accept: image/png\r\n'));
    expect((await connection.receive()).status).toBe(406);
    connection.send(postOf(body));
    expect((await connection.receive()).status).toBe(200);
  });

  it('an answer in progress is sent completely, even if invalid HTTP follows its request', async () => {
    const connection = await RawConnection.open(server.postroom);
    connection.send(`${postOf(body)}NO SUCH THING\r\n\r\n`);
    expect(await connection.receive()).toMatchObject({ status: 200, headers: { connection: 'close' } });
    expect(await connection.closed()).toBe('');
  });

  it('answers that wait for earlier ones are sent completely, even if invalid HTTP follows in their packet', async () => {
    const connection = await RawConnection.open(server.postroom);
    connection.send(`${postOf(body)}OPTIONS * HTTP/1.1\r\n${host}\r\nw\r\n\r\n`);
    expect(await connection.receive()).toMatchObject({ status: 200, body: '{"data":{"__typename":"Query"}}' });
    expect(await connection.receive()).toMatchObject({ status: 204 });
    await connection.closed();
  });

  it('a refusal is sent completely, even if invalid HTTP follows in its packet', async () => {
    const connection = await RawConnection.open(server.postroom);
    connection.send(`GET /nothing HTTP/1.1\r\n${host}\r\nNO SUCH THING\r\n\r\n`);
    expect((await connection.receive()).status).toBe(404);
    await connection.closed();
  });

  it.each([
    ['a CONNECT', 'CONNECT elsewhere:443 HTTP/1.1\r\nHost: elsewhere\r\n\r\n', 405],
    ['a handshake', handshake, 101],
  ])('a refusal is sent before the answer to the next request of its packet: %s', async (_, following, status) => {
    const connection = await RawConnection.open(server.postroom);
    connection.send(`GET /nothing HTTP/1.1\r\n${host}\r\n${following}`);
    expect((await connection.receive()).status).toBe(404);
    expect((await connection.receive()).status).toBe(status);
  });

  it('a body that is too long is refused at once, and the connection closes after the answer', async () => {
    const connection = await RawConnection.open(server.postroom);
    connection.send(
      `POST /graphql HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: 50000000\r\n\r\n${'x'.repeat(10)}`,
    );
    expect(await connection.receive()).toMatchObject({ status: 413, headers: { connection: 'close' } });
    connection.send('x'.repeat(100_000));
    expect(await connection.closed()).toBe('');
    await expectHealthy();
  });

  it('an endless chunked body is refused when it is too long, and the answer arrives even if the client keeps sending', async () => {
    const connection = await RawConnection.open(server.postroom);
    connection.send(
      `POST /graphql HTTP/1.1\r\n${host}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    for (let sent = 0; sent < 40; sent += 1) connection.send(chunk);
    expect(await connection.receive()).toMatchObject({ status: 413, code: 'PAYLOAD_TOO_LARGE' });
    await connection.closed();
    await expectHealthy();
  });

  it('a client that offers HTTP/2 is answered in HTTP/1.1', async () => {
    const upgrade =
      'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n';
    expect(await answerTo(postOf(body, upgrade))).toMatchObject({ status: 200, data: { __typename: 'Query' } });
  });

  it('the answer to a request whose upgrade is ignored closes the connection, also if invalid HTTP follows', async () => {
    const upgrade = 'Connection: Upgrade\r\nUpgrade: h2c\r\n';
    for (const next of ['', postOf(body), postOf(body).replace(/Content-Length: \d+/i, 'Content-Length: *')]) {
      const connection = await RawConnection.open(server.postroom);
      connection.send(`${postOf(body, upgrade)}${next}`);
      expect(await connection.receive()).toMatchObject({ status: 200 });
      expect(await connection.closed()).toBe('');
    }
  });
});

describe('slow clients', () => {
  it('headers that take longer than 10 s and bodies that take longer than 20 s are 408', async () => {
    const [slowHead, slowBody] = [await RawConnection.open(server.postroom), await RawConnection.open(server.postroom)];
    slowHead.send(`POST /graphql HTTP/1.1\r\n${host}X: `);
    slowBody.send(postOf(body).slice(0, -1));
    for (const slow of [slowHead, slowBody]) {
      expect(await slow.receive()).toMatchObject({ status: 408, code: 'REQUEST_TIMEOUT' });
      expect(await slow.closed()).toBe('');
    }
    await expectHealthy();
  });

  it('a body in many small pieces is read completely, and so is the next request on its connection', async () => {
    const connection = await RawConnection.open(server.postroom);
    for (const piece of postOf(`${' '.repeat(150)}${body}`)) {
      connection.send(piece);
      // The server reads the piece before it answers this request.
      await post(server.postroom, '{ __typename }');
    }
    for (let asked = 0; asked < 2; asked += 1) {
      expect(await connection.receive()).toMatchObject({ status: 200, data: { __typename: 'Query' } });
      connection.send(postOf(body));
    }
    expect(await connection.receive()).toMatchObject({ status: 200 });
  });
});
