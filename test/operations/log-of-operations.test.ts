import { expect, it } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { launchForTest, launchProcessForTest, type Postroom } from '../support/server/postroom.ts';
import { advanceTime, launchWithVirtualClock } from '../support/server/virtual-timers.ts';

/** The lines about operations so far. */
function linesOf(postroom: Postroom) {
  return postroom.log.filter(({ msg }) => /^(operation (refused|failed)|slow operation)$/.test(String(msg)));
}

it('a refused operation is logged with its name, type, code, viewer and request, but without what it contains', async () => {
  const postroom = await launchForTest({ LOG_LEVEL: 'info' });
  const ada = await postroom.signUp('Ada');
  const rename = 'mutation Rename($room: ID!) { updateRoom(input: { id: $room, name: "secret" }) { room { id } } }';
  const { headers, code } = await postroom.send(rename, { room: 'secret' }, ada.token);
  await expect
    .poll(() => linesOf(postroom))
    .toEqual([
      {
        level: 30,
        time: expect.any(String),
        requestId: headers.get('x-request-id'),
        operation: 'Rename',
        type: 'mutation',
        code,
        reason: 'There is no such room.',
        durationMs: expect.any(Number),
        viewer: ada.id,
        msg: 'operation refused',
      },
    ]);
  const text = JSON.stringify(postroom.log);
  for (const hidden of ['secret', ada.token, ada.email, '__typename']) expect(text).not.toContain(hidden);
});

const hidden = 'hunter2';

it.each([
  [`{ unknown(x: "${hidden}") }`, {}, 'Cannot query field "unknown" on type "Query".'],
  [
    `mutation { signIn(input: { email: "ada@example.org", password: ${hidden} }) { accessToken } }`,
    {},
    'String cannot represent a non string value: …',
  ],
  [
    `mutation { signIn(input: { password: hun ${hidden} }) { accessToken } }`,
    {},
    'Syntax Error: Expected ":", found "}".',
  ],
  [`{ rooms("${hidden}") { data { id } } }`, {}, 'Syntax Error: Expected Name, found String …'],
  [`{ posts(order: ${hidden}) { data { id } } }`, {}, 'Value … does not exist in "PostOrder" enum.'],
  [
    'mutation ($input: SignInInput!) { signIn(input: $input) { accessToken } }',
    { input: { password: [hidden], email: hidden } },
    'Variable "$input" has invalid value at .password: String cannot represent a non string value: …',
  ],
  [
    'mutation ($input: SignInInput!) { signIn(input: $input) { accessToken } }',
    { input: { password: hidden } },
    'Variable "$input" has invalid value: Expected value of type "SignInInput" to include required field "email", found: …',
  ],
])('the reason of a refusal is logged without the values of the document and of its variables: %s', async (...row) => {
  const [query, variables, reason] = row;
  const postroom = await launchForTest({ LOG_LEVEL: 'info' });
  await postroom.send(query, variables);
  await expect.poll(() => linesOf(postroom)).toMatchObject([{ reason }]);
  expect(JSON.stringify(postroom.log)).not.toContain(hidden);
});

it('the reason is at most 300 characters long', async () => {
  const postroom = await launchForTest({ LOG_LEVEL: 'info' });
  await postroom.send(`{ ${'x'.repeat(5_000)} }`);
  await expect.poll(() => linesOf(postroom)).toHaveLength(1);
  expect(linesOf(postroom)[0]?.['reason']).toMatch(/^Cannot query field "x{280}…$/);
});

it('an operation over a WebSocket is logged in the same way', async () => {
  const postroom = await launchForTest({ LOG_LEVEL: 'info' });
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  await socket.subscribe('1', 'subscription Live { roomEvents(room: "none") { cursor } }').refused;
  await expect
    .poll(() => linesOf(postroom))
    .toMatchObject([{ operation: 'Live', type: 'subscription', code: 'NOT_FOUND' }]);
});

it('the name of an operation is shortened to 100 characters, whether or not the operation exists', async () => {
  const postroom = await launchForTest({ LOG_LEVEL: 'info' });
  await postroom.send(`query ${'x'.repeat(5_000)} { room(id: 1, id: 2) { id } }`);
  await fetch(postroom.graphqlUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ __typename }', operationName: `"\n${'y'.repeat(5_000)}` }),
  });
  await expect.poll(() => linesOf(postroom)).toHaveLength(2);
  const [unnamed, requested] = linesOf(postroom);
  expect(unnamed).toMatchObject({ code: 'GRAPHQL_VALIDATION_FAILED', type: 'unknown' });
  expect(requested).toMatchObject({ code: 'OPERATION_NOT_FOUND', operation: `"\n${'y'.repeat(98)}…` });
});

it('an operation that takes SLOW_OPERATION_MS is logged as a warning, with its duration', async () => {
  const postroom = await launchForTest({ SLOW_OPERATION_MS: '1' });
  await postroom.signUp('Ada');
  await expect.poll(() => linesOf(postroom)).toHaveLength(1);
  const [line] = linesOf(postroom);
  expect(line).toMatchObject({ level: 40, type: 'mutation', code: 'OK', msg: 'slow operation' });
  expect(Number(line?.['durationMs'])).toBeGreaterThanOrEqual(1);
});

it('refused operations do not fill the log: of one code it has at most 20 lines in ten seconds', async () => {
  const postroom = await launchWithVirtualClock({ LOG_LEVEL: 'info' });
  for (let sent = 0; sent < 50; sent += 1) await postroom.send('{');
  await postroom.send('{ unknown }');
  const codes = () => linesOf(postroom).map(({ code }) => code);
  await expect.poll(codes).toEqual([...Array(20).fill('GRAPHQL_PARSE_FAILED'), 'GRAPHQL_VALIDATION_FAILED']);
  advanceTime(10_000);
  await postroom.send('{');
  await expect.poll(() => codes().slice(21)).toEqual(['GRAPHQL_PARSE_FAILED']);
});

it('with NODE_NAME every line names the node', async () => {
  const postroom = await launchProcessForTest({ NODE_NAME: 'blue', LOG_LEVEL: 'info' });
  await postroom.send('{');
  await expect.poll(() => linesOf(postroom)).toHaveLength(1);
  for (const line of postroom.log) expect(line).toHaveProperty('node', 'blue');
});
