import { describe, expect, it } from 'vitest';
import { exchange, get, graphqlResponse, type HttpAnswer, post, RawConnection } from '../support/clients/http.ts';
import { launchForTest } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

const server = shareServer();

const echo = 'query ($name: String!) { roomByName(name: $name) { id } __typename }';

/** Sends the body unchanged, because it may be invalid JSON. */
function send(body: string | Buffer): Promise<HttpAnswer> {
  return exchange(server.postroom, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: graphqlResponse },
    body,
  });
}

describe('the body of a POST', () => {
  it.each([
    ['nothing', ''],
    ['no JSON', '{ "not a JSON'],
    ['JSON and more', '{"query":"{ __typename }"} x'],
    ['a comment in it', '{"query":"{ __typename }"/* */}'],
    ['NaN', '{"query":"{ __typename }","variables":{"n":NaN}}'],
  ])('that is %s is 400', async (_, body) => {
    expect(await send(body)).toMatchObject({ status: 400, code: 'BAD_REQUEST' });
  });

  it.each([
    ['an array of requests', '[{"query":"{ __typename }"}]'],
    ['a string', '"{ __typename }"'],
    ['null', 'null'],
    ['an object without a query', '{"qeury":"{ __typename }"}'],
    ['an object with a null query', '{"query":null}'],
  ])('that is %s is 422', async (_, body) => {
    expect(await send(body)).toMatchObject({ status: 422, code: 'INVALID_REQUEST' });
  });

  it('that is an array is refused with the reason: batches are not supported', async () => {
    const { errors } = await send('[{"query":"{ __typename }"}]');
    expect(errors?.[0]?.message).toMatch(/Batching is not supported/);
  });

  const wrong = {
    query: [{ obj: 'ect' }, 0, false, ['array']],
    operationName: [{ obj: 'ect' }, 0, false, ['array']],
    variables: ['string', 0, false, [7]],
    extensions: ['string', 0, false, ['array']],
    documentId: [{ obj: 'ect' }, 0, false, ['array']],
  };
  it.each(
    Object.entries(wrong).flatMap(([key, values]) => values.map((value) => [key, value] as const)),
  )('whose %s is %j is 422, and the answer names the parameter', async (key, value) => {
    const answer = await post(server.postroom, '{ __typename }', { [key]: value });
    expect(answer).toMatchObject({ status: 422, code: 'INVALID_REQUEST' });
    expect(answer.errors?.[0]?.message).toContain(`"${key}"`);
  });

  it('may have null parameters, which count as absent, and unknown keys, which are ignored', async () => {
    const given = { operationName: null, variables: null, extensions: null, documentId: null, id: 7, foo: { bar: [] } };
    const answer = await post(server.postroom, '{ __typename }', given);
    expect(answer).toMatchObject({ status: 200, data: { __typename: 'Query' } });
  });

  it('may contain keys that are names of object properties', async () => {
    const body = `{"query":${JSON.stringify(echo)},"variables":{"name":"x","__proto__":{"name":7},"constructor":1},"__proto__":{"query":"{"}}`;
    expect(await send(body)).toMatchObject({ status: 200, data: { roomByName: null } });
  });

  it('is UTF-8: every character is accepted, and invalid bytes are refused', async () => {
    const text = '🏃 ü \u2028 \u{10ffff}';
    const query = `{ __type(name: ${JSON.stringify(text)}) { name } }`;
    expect(await post(server.postroom, query)).toMatchObject({ status: 200, data: { __type: null } });
    const invalid = Buffer.from('{"query":"{ __typename }","x":"_"}'.replace('_', '\xff'), 'latin1');
    expect(await send(invalid)).toMatchObject({ status: 400, code: 'BAD_REQUEST' });
    const cut = Buffer.from('{"query":"{ __typename }","x":"\xc3"}', 'latin1');
    expect(await send(cut)).toMatchObject({ status: 400, code: 'BAD_REQUEST' });
  });

  it('may nest 64 levels deep and no deeper; brackets in strings do not count', async () => {
    const nest = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    const withVariable = (value: string) => send(`{"query":"{ __typename }","variables":{"v":${value}}}`);
    expect(await withVariable(nest(62))).toMatchObject({ status: 200 });
    expect(await withVariable(nest(63))).toMatchObject({ status: 400, code: 'BAD_REQUEST' });
    expect(await withVariable(nest(400_000))).toMatchObject({ status: 400, code: 'BAD_REQUEST' });
    expect(await withVariable(JSON.stringify(`\\"${'[{'.repeat(100)}`))).toMatchObject({ status: 200 });
  });

  it('may have 5,000 values and no more, with those in objects and lists; commas in strings do not count', async () => {
    const withVariable = (value: string) => send(`{"query":"{ __typename }","variables":{"v":${value}}}`);
    // The body, its two members and the variable are four values.
    expect(await withVariable(`[${Array(4_996).fill('0')}]`)).toMatchObject({ status: 200 });
    const refused = { status: 400, code: 'BAD_REQUEST', errors: [{ message: 'The JSON has more than 5000 values.' }] };
    expect(await withVariable(`[${Array(4_997).fill('0')}]`)).toMatchObject(refused);
    expect(await withVariable(`{${Array.from({ length: 4_997 }, (_, index) => `"${index}":[]`)}}`)).toMatchObject(
      refused,
    );
    expect(await withVariable(JSON.stringify(`${','.repeat(20_000)}\\"${','.repeat(20_000)}\\`))).toMatchObject({
      status: 200,
    });
  });

  it('has a maximum length, whether or not its length is declared', async () => {
    const postroom = await launchForTest({ LIMIT_BODY_BYTES: '200' });
    const bodyOf = (length: number) => `{"query":"{ __typename }"${' '.repeat(length - 26)}}`;
    const ask = (length: number, headers: Record<string, string>) =>
      exchange(postroom, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: bodyOf(length),
      });
    expect((await ask(200, {})).status).toBe(200);
    expect(await ask(201, {})).toMatchObject({ status: 413, code: 'PAYLOAD_TOO_LARGE' });
    const statuses = [];
    for (const length of [200, 201, 500_000]) {
      const connection = await RawConnection.open(postroom);
      const chunk = `${length.toString(16)}\r\n${bodyOf(length)}\r\n0\r\n\r\n`;
      connection.send(
        `POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`,
      );
      statuses.push((await connection.receive()).status);
    }
    expect(statuses).toEqual([200, 413, 413]);
  });

  it('is the only source of parameters: the query string of the URL is ignored', async () => {
    const answer = await exchange(server.postroom, {
      method: 'POST',
      path: '/graphql?query={__typename}&variables={',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect(answer).toMatchObject({ status: 422, code: 'INVALID_REQUEST' });
  });
});

describe('the parameters of a GET', () => {
  it('are a query, variables and extensions as JSON, and an operationName', async () => {
    const query = 'query A { __typename } query B($name: String!) { roomByName(name: $name) { id } }';
    const variables = JSON.stringify({ name: 'ü & + %' });
    const answer = await get(server.postroom, { query, variables, operationName: 'B', extensions: '{"a":1}' });
    expect(answer).toMatchObject({ status: 200, data: { roomByName: null } });
  });

  it('count as absent if they are empty', async () => {
    const answer = await get(server.postroom, {
      query: '{ __typename }',
      variables: '',
      extensions: '',
      operationName: '',
    });
    expect(answer).toMatchObject({ status: 200, data: { __typename: 'Query' } });
  });

  it('cannot be null: operationName=null is a name', async () => {
    const query = 'query null { __typename } query other { __typename }';
    expect(await get(server.postroom, { query, operationName: 'null' })).toMatchObject({ status: 200 });
    expect(await get(server.postroom, { query: '{ __typename }', operationName: 'null' })).toMatchObject({
      status: 422,
    });
  });

  it('are ignored if they are unknown', async () => {
    expect(await get(server.postroom, { query: '{ __typename }', foo: 'bar' })).toMatchObject({ status: 200 });
  });

  it.each([
    ['variables', '{'],
    ['variables', 'undefined'],
    ['extensions', '{"a":}'],
    ['variables', `${'['.repeat(65)}${']'.repeat(65)}`],
  ])('whose %s are %s are 400', async (name, value) => {
    const answer = await get(server.postroom, { query: '{ __typename }', [name]: value });
    expect(answer).toMatchObject({ status: 400, code: 'BAD_REQUEST' });
  });

  it.each([
    ['variables', '[7]'],
    ['variables', '"x"'],
    ['extensions', '7'],
  ])('whose %s are %s are 422', async (name, value) => {
    const answer = await get(server.postroom, { query: '{ __typename }', [name]: value });
    expect(answer).toMatchObject({ status: 422, code: 'INVALID_REQUEST' });
  });

  it.each([
    '%zz',
    '%',
    '%e0%80',
    '%ff',
    '%c0%ae',
    '%ed%a0%80',
  ])('that contain %s are 400: they are not repaired', async (bytes) => {
    const answer = await exchange(server.postroom, { path: `/graphql?query={__typename}&x=${bytes}` });
    expect(answer).toMatchObject({ status: 400, code: 'BAD_REQUEST' });
  });

  it('without a query are 422', async () => {
    for (const path of ['/graphql', '/graphql?', '/graphql?x=1']) {
      expect(await exchange(server.postroom, { path })).toMatchObject({ status: 422, code: 'INVALID_REQUEST' });
    }
  });
});

describe('HEAD', () => {
  it('is GET without a body', async () => {
    const question = { query: '{ rooms { data { id } } }' };
    const [read, head] = [await get(server.postroom, question), await get(server.postroom, question, {}, 'HEAD')];
    const { date: _then, 'x-request-id': _one, ...expected } = read.headers;
    const { date: _now, 'x-request-id': _other, ...headers } = head.headers;
    expect(head).toMatchObject({ status: 200, body: '' });
    expect(headers).toEqual(expected);
  });

  it('reports errors as GET does', async () => {
    const head = await get(server.postroom, { query: '{' }, {}, 'HEAD');
    expect(head).toMatchObject({ status: 400, body: '' });
    expect(Number(head.headers['content-length'])).toBeGreaterThan(0);
  });
});

describe('other paths', () => {
  it('only /graphql has a page: / redirects to it, and any other path is 404', async () => {
    expect(await exchange(server.postroom, { path: '/' })).toMatchObject({
      status: 302,
      headers: { location: '/graphql' },
    });
    for (const path of ['/graphql/', '/GraphQL', '//graphql', '/nothing', '/constructor', '/graphql%2f', '/.env']) {
      expect(await exchange(server.postroom, { path })).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    }
  });

  it('/health reports that the server runs, and /ready that it can serve requests', async () => {
    const bodies = { '/health': '{"status":"ok"}', '/ready': '{"status":"ok","database":"up","bus":"up"}' };
    for (const [path, expected] of Object.entries(bodies)) {
      const { status, body, headers } = await exchange(server.postroom, { path });
      expect({ status, body }).toEqual({ status: 200, body: expected });
      expect(headers['cache-control']).toBe('no-store');
    }
  });
});
