import { expect, it } from 'vitest';
import { EventStream, multipartHeaders } from '../support/clients/event-stream.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { launchTestAccounts } from '../support/identity/test-accounts.ts';
import type { Person, Postroom } from '../support/server/postroom.ts';
import { launchStreamFixture } from '../support/server/stream-fixture.ts';
import { advanceTime, withVirtualTimers } from '../support/server/virtual-timers.ts';

/* Who loads the server. Two nodes are in test/nodes/inventory-of-nodes.test.ts. */

const bearer = ({ token }: Person) => ({ authorization: `Bearer ${token}` });
const query = `query ($order: LoadOrder) { load(order: $order) {
  users { user { name } operations deliveries refusals }
  addresses { address operations deliveries refusals }
} }`;

async function readLoad(postroom: Postroom, { token }: Person, order?: string) {
  return (await postroom.ask(query, { order }, token)).load;
}

/** Sends an operation as if it came from an address. */
function sendFrom(address: string, { graphqlUrl }: Postroom, text = '{ __typename }') {
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': address };
  return fetch(graphqlUrl, { method: 'POST', headers, body: JSON.stringify({ query: text }) }).then((it) => it.text());
}

it('the load of users counts their operations, deliveries and refusals over every transport', async () => {
  const { postroom, admin, member, owner } = await launchTestAccounts();
  const room = await postroom.createRoom(owner, 'hall');
  const follow = `subscription { roomEvents(room: "${room}") { cursor } }`;
  const loadOf = async (name: string) => {
    const { users } = await readLoad(postroom, admin);
    const found = users.find(({ user }: { user: { name: string } }) => user.name === name);
    return found ?? { operations: 0, deliveries: 0, refusals: 0 };
  };
  const before = await loadOf('member');
  const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init: bearer(member) });
  const followed = ['1', '2'].map((id) => socket.subscribe(id, follow));
  for (const { start } of followed) await start;
  const stream = await EventStream.open(postroom.graphqlUrl, follow, bearer(member));
  const multipart = await EventStream.open(postroom.graphqlUrl, follow, { ...bearer(member), ...multipartHeaders });
  for (let n = 0; n < 3; n += 1) await postroom.createPost(owner, room, 'live');
  for (const { results } of [stream, multipart, ...followed]) for (let n = 0; n < 3; n += 1) await results.next();
  await postroom.send('{ nothing }', {}, member.token);
  await socket.subscribe('3', '{ nothing }').refused;
  const after = { ...before, operations: before.operations + 6, deliveries: 12, refusals: before.refusals + 2 };
  expect(await loadOf('member')).toEqual({ ...after, user: { name: 'member' } });
  // What a connection received before it was closed counts, too.
  await postroom.createPost(owner, room, 'late');
  for (const { results } of followed) await results.next();
  await socket.close();
  await expect.poll(() => loadOf('member')).toMatchObject({ deliveries: 16 });
});

it('the load of addresses counts clients without credentials, too', async () => {
  const { postroom, owner: admin } = await launchStreamFixture({ TRUST_PROXY: '1' });
  for (let n = 0; n < 3; n += 1) await sendFrom('192.0.2.1', postroom);
  await sendFrom('192.0.2.2', postroom, '{ nothing }');
  await sendFrom('2001:db8:1:2:3:4:5:6', postroom, '{ nothing }');
  await sendFrom(`192.0.2.${'3'.repeat(5_000)}`, postroom);
  const { addresses } = await readLoad(postroom, admin);
  expect(addresses).toContainEqual(expect.objectContaining({ address: `192.0.2.${'3'.repeat(92)}`, operations: 1 }));
  const counts = { deliveries: 0, refusals: 0 };
  expect(addresses).toContainEqual({ address: '192.0.2.1', operations: 3, ...counts });
  expect(addresses).toContainEqual({ address: '192.0.2.2', operations: 1, ...counts, refusals: 1 });
  expect(addresses).toContainEqual({ address: '2001:db8:1:2', operations: 1, ...counts, refusals: 1 });
});

it('those with the most of the order are first, at most ten, and those without any are left out', async () => {
  const { postroom, owner: admin } = await launchStreamFixture({ TRUST_PROXY: '1' });
  for (let n = 1; n <= 12; n += 1) {
    for (let count = 0; count < n; count += 1) await sendFrom(`192.0.2.${n}`, postroom, '{ nothing }');
    await sendFrom(`198.51.100.${n}`, postroom);
  }
  const { addresses } = await readLoad(postroom, admin, 'REFUSALS');
  expect(addresses.map(({ refusals }: { refusals: number }) => refusals)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3]);
  expect(addresses[0]).toEqual({ address: '192.0.2.12', operations: 12, deliveries: 0, refusals: 12 });
  expect(await readLoad(postroom, admin, 'DELIVERIES')).toEqual({ users: [], addresses: [] });
});

it('the load is that of the current minute and the four before it', async () => {
  const { postroom, admin, member, owner } = await withVirtualTimers(() => launchTestAccounts());
  const room = await postroom.createRoom(owner, 'hall');
  const follow = `subscription { roomEvents(room: "${room}") { cursor } }`;
  const { results } = await EventStream.open(postroom.graphqlUrl, follow, bearer(member));
  const post = () => Promise.all([postroom.createPost(owner, room, 'live'), results.next()]);
  const deliveries = async () => {
    const { users } = await readLoad(postroom, admin, 'DELIVERIES');
    return users.map((load: { deliveries: number }) => load.deliveries);
  };
  await post();
  for (let minute = 1; minute < 5; minute += 1) advanceTime(60_000);
  await post();
  expect(await deliveries()).toEqual([2]);
  advanceTime(60_000);
  await expect.poll(deliveries).toEqual([1]);
  for (let minute = 1; minute < 5; minute += 1) advanceTime(60_000);
  await expect.poll(deliveries).toEqual([]);
});

it('of many addresses in a minute those with a small load are forgotten, and those with a large one are not', async () => {
  const { postroom, owner: admin } = await launchStreamFixture({ TRUST_PROXY: '1' });
  const sendFromEach = async (network: string, count: number) => {
    for (let n = 0; n < count; n += 50)
      await Promise.all(Array.from({ length: 50 }, (_, index) => sendFrom(`${network}:${n + index}::1`, postroom)));
  };
  const sendMany = async (address: string, count: number) => {
    for (let n = 0; n < count; n += 1) await sendFrom(address, postroom);
  };
  await sendMany('192.0.2.1', 10);
  await sendFromEach('2001:db8:1', 100);
  await sendMany('192.0.2.2', 1);
  await sendFromEach('2001:db8:2', 1_000);
  await sendMany('192.0.2.2', 9);
  const { addresses } = await readLoad(postroom, admin);
  expect(addresses.filter(({ address }: { address: string }) => address.startsWith('192'))).toMatchObject([
    { address: '192.0.2.1', operations: 10 },
    { address: '192.0.2.2', operations: 9 },
  ]);
});
