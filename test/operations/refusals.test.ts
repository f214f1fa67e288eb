import { expect, it } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { launchTestAccounts } from '../support/identity/test-accounts.ts';
import type { Person, Postroom } from '../support/server/postroom.ts';
import { launchStreamFixture } from '../support/server/stream-fixture.ts';
import { advanceTime, withVirtualTimers } from '../support/server/virtual-timers.ts';

/* Why operations were refused. Two nodes are in test/nodes/inventory-of-nodes.test.ts. */

const query = `query ($requestId: ID) { refusals(requestId: $requestId) {
  time node requestId operation code reason viewer { id } address
} }`;

async function readRefusals(postroom: Postroom, { token }: Person, requestId?: string) {
  return (await postroom.ask(query, { requestId }, token)).refusals;
}

const idOf = ({ headers }: { headers: Headers }) => headers.get('x-request-id') ?? '';

it('an operation that was refused is found by its request id, with its reason', async () => {
  const { postroom, admin, member, owner } = await launchTestAccounts();
  const room = await postroom.createRoom(owner, 'hall');
  const before = Date.now();
  const rename = 'mutation Rename($room: ID!) { updateRoom(input: { id: $room, name: "mine" }) { room { id } } }';
  const replies = [
    await postroom.send(rename, { room }, member.token),
    await postroom.send('{ nothing }'),
    await postroom.send('{ posts(order: hunter2) { data { id } } }'),
    await postroom.send('{ viewer { id } }', {}, 'no token'),
  ];
  const common = { address: '127.0.0.1', node: expect.any(String), time: expect.any(String) };
  const anonymous = { ...common, operation: null, viewer: null };
  const reason = 'Only the owner and admins can change a room.';
  const expected = [
    { ...common, operation: 'Rename', code: 'FORBIDDEN', reason, viewer: { id: member.id } },
    { ...anonymous, code: 'GRAPHQL_VALIDATION_FAILED', reason: 'Cannot query field "nothing" on type "Query".' },
    { ...anonymous, code: 'GRAPHQL_VALIDATION_FAILED', reason: 'Value … does not exist in "PostOrder" enum.' },
    { ...anonymous, code: 'UNAUTHENTICATED', reason: expect.any(String) },
  ];
  for (const [index, reply] of replies.entries()) {
    const requestId = idOf(reply);
    expect(await readRefusals(postroom, admin, requestId)).toEqual([{ ...expected[index], requestId }]);
  }
  expect(await readRefusals(postroom, admin, 'another')).toEqual([]);
  const all = await readRefusals(postroom, admin);
  expect(new Set(all.slice(0, 4).map(({ requestId }: { requestId: string }) => requestId))).toEqual(
    new Set(replies.map(idOf)),
  );
  const times = all.map(({ time }: { time: string }) => Date.parse(time));
  expect(times).toEqual(times.toSorted((one: number, other: number) => other - one));
  expect(times[0]).toBeGreaterThanOrEqual(before);
  expect(JSON.stringify(all)).not.toMatch(/hunter2|no token/);
});

it('operations over a WebSocket are among the refusals, and those that succeed are not', async () => {
  const { postroom, admin, member } = await launchTestAccounts();
  const init = { authorization: `Bearer ${member.token}` };
  const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init });
  await socket.subscribe('1', 'subscription Live { roomEvents(room: "none") { cursor } }').refused;
  await postroom.send('query Fine { viewer { id } }', {}, member.token);
  const [latest, ...others] = await readRefusals(postroom, admin);
  expect(latest).toMatchObject({ operation: 'Live', code: 'NOT_FOUND', viewer: { id: member.id } });
  expect(JSON.stringify(others)).not.toContain('Fine');
});

it('the latest 50 are listed, and the latest 500 are found: of one code at most 20 in ten seconds, as in the log', async () => {
  const { postroom, owner: admin } = await withVirtualTimers(() => launchStreamFixture({ LOG_LEVEL: 'error' }), {
    withClock: true,
  });
  const ids: string[] = [];
  for (let round = 0; round < 26; round += 1) {
    for (let sent = 0; sent < 20; sent += 1) ids.push(idOf(await postroom.send('{')));
    const omitted = idOf(await postroom.send('{'));
    expect(await readRefusals(postroom, admin, omitted)).toEqual([]);
    advanceTime(10_000);
  }
  const listed = await readRefusals(postroom, admin);
  expect(listed.map(({ requestId }: { requestId: string }) => requestId)).toEqual(ids.toReversed().slice(0, 50));
  expect(await readRefusals(postroom, admin, ids.at(-500))).toHaveLength(1);
  expect(await readRefusals(postroom, admin, ids.at(-501))).toEqual([]);
});
