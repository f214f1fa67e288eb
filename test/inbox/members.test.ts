// Runs on SQLite and on PostgreSQL.
import { expect, it } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { nothingLeft, untilCounts } from '../support/engine/metrics.ts';
import { change, InboxStream, inboxQuery } from '../support/inbox/inbox-stream.ts';
import { seqOf, seqsBetween } from '../support/rooms/cursors.ts';
import { type BusFault, createUnreliableBus } from '../support/rooms/unreliable-bus.ts';
import { launchForTest, type Person, type Postroom } from '../support/server/postroom.ts';

interface Fixture {
  postroom: Postroom;
  ada: Person;
  bob: Person;
  /** A public room and a private room of Ada, of which Bob is a member. */
  hall: string;
  den: string;
}

async function open(fault?: BusFault): Promise<Fixture> {
  const postroom = await launchForTest({}, fault && { bus: createUnreliableBus(fault) });
  const [ada, bob] = [await postroom.signUp('Ada'), await postroom.signUp('Bob')];
  const hall = await postroom.createRoom(ada, 'hall');
  await change(postroom, 'joinRoom', bob, hall);
  const create = 'mutation { createRoom(input: { name: "den", visibility: PRIVATE }) { room { id } } }';
  const den: string = (await postroom.ask(create, {}, ada.token)).createRoom.room.id;
  const fixture = { postroom, ada, bob, hall, den };
  await changeMember(fixture, 'addRoomMember');
  return fixture;
}

/** Adds Bob to the private room, or removes him. */
async function changeMember(
  { postroom, ada, bob, den }: Fixture,
  mutation: 'addRoomMember' | 'removeRoomMember',
): Promise<void> {
  const input = `{ room: "${den}", user: "${bob.id}" }`;
  await postroom.ask(`mutation { ${mutation}(input: ${input}) { room { id } } }`, {}, ada.token);
}

it.each<BusFault>([
  'none',
  'losesAll',
  'unreliable',
])('a member who is removed from a private room receives their MemberLeft, and nothing after it (the bus: %s)', async (fault) => {
  const fixture = await open(fault);
  const { postroom, ada, bob, hall, den } = fixture;
  const inbox = await InboxStream.open(postroom, bob);
  await postroom.createPost(ada, den, 'seen');
  await changeMember(fixture, 'removeRoomMember');
  await postroom.createPost(ada, den, 'secret');
  expect(await inbox.take(2)).toEqual(['PostCreated den seen', 'MemberLeft den']);
  await postroom.createPost(ada, hall, 'open');
  expect(await inbox.take(1)).toEqual(['PostCreated hall open']);
});

it.each<[BusFault, number]>([
  ['losesAll', 1],
  ['unreliable', 3],
  ['forges', 3],
])('rooms enter and end although messages of the bus are wrong (the bus: %s)', async (fault, roundCount) => {
  const fixture = await open(fault);
  const { postroom, ada, bob, hall, den } = fixture;
  const inbox = await InboxStream.open(postroom, bob);
  const seen: string[] = [];
  for (let round = 0; round < roundCount; round += 1) {
    await changeMember(fixture, 'removeRoomMember');
    seen.push(...(await inbox.take(1)));
    await postroom.createPost(ada, den, `hidden ${round}`);
    await changeMember(fixture, 'addRoomMember');
    await postroom.createPost(ada, den, `shown ${round}`);
    seen.push(...(await inbox.take(2)));
  }
  await change(postroom, 'deleteRoom', ada, hall);
  seen.push(...(await inbox.take(1)));
  const expected = Array.from({ length: roundCount }, (_, round) => [
    'MemberLeft den',
    'MemberJoined den',
    `PostCreated den shown ${round}`,
  ]).flat();
  expect(seen).toEqual([...expected, 'RoomDeleted hall']);
});

it('events that were published just before the deletion of a room come before RoomDeleted', async () => {
  const { postroom, ada, bob, hall } = await open();
  const inbox = await InboxStream.open(postroom, bob);
  const before = seqOf(inbox.cursors[hall] ?? '');
  await Promise.all(Array.from({ length: 20 }, () => postroom.createPost(ada, hall, 'post')));
  await change(postroom, 'deleteRoom', ada, hall);
  const seqs: number[] = [];
  for (let event = await inbox.next(); event.__typename !== 'RoomDeleted'; event = await inbox.next()) {
    expect(event).toMatchObject({ __typename: 'PostCreated', room: { name: 'hall' } });
    seqs.push(seqOf(event.cursor));
  }
  expect(seqs).toEqual(seqsBetween(before, before + 20));
});

it('a former member who joined again while the client was away receives the events of both memberships only', async () => {
  const fixture = await open();
  const { postroom, ada, bob, den } = fixture;
  const inbox = await InboxStream.open(postroom, bob);
  await postroom.createPost(ada, den, 'one');
  await changeMember(fixture, 'removeRoomMember');
  await inbox.take(2);
  await inbox.close();
  await postroom.createPost(ada, den, 'hidden');
  await changeMember(fixture, 'addRoomMember');
  await postroom.createPost(ada, den, 'two');
  const after = { seen: inbox.cursors };
  const resumed = await InboxStream.open(postroom, bob, after);
  expect(await resumed.take(2)).toEqual(['MemberJoined den', 'PostCreated den two']);
});

it('an inbox ends when its viewer is deleted', async () => {
  const { postroom, bob } = await open();
  const inbox = await InboxStream.open(postroom, bob);
  await postroom.ask(
    'mutation ($id: ID!) { deleteUser(input: { id: $id }) { user { id } } }',
    { id: bob.id },
    bob.token,
  );
  expect((await inbox.socket.closed).code).toBe(4403);
});

it('an inbox ends when its API key is revoked, and when the server stops', async () => {
  const { postroom, bob, hall, ada } = await open();
  const create = 'mutation { createApiKey(input: { name: "inbox", scopes: [READ] }) { key apiKey { id } } }';
  const { createApiKey } = await postroom.ask(create, {}, bob.token);
  const init = { authorization: `ApiKey ${createApiKey.key}` };
  const socket = await ProtocolSocket.open(postroom.graphqlUrl, { init });
  const { start, results } = socket.subscribe('inbox', inboxQuery);
  await start;
  const ofBob = await InboxStream.open(postroom, bob);
  const revoke = 'mutation ($id: ID!) { revokeApiKey(input: { id: $id }) { apiKey { id } } }';
  await postroom.ask(revoke, { id: createApiKey.apiKey.id }, bob.token);
  expect((await socket.closed).code).toBe(4403);
  await postroom.createPost(ada, hall, 'later');
  expect(results.all).toEqual([]);
  expect(await ofBob.take(1)).toEqual(['PostCreated hall later']);
  await postroom.stop();
  expect((await ofBob.socket.closed).code).toBe(1012);
});

it('no resource is left after an inbox has ended', async () => {
  const { postroom, ada, bob, hall } = await open();
  const inboxes = [await InboxStream.open(postroom, bob), await InboxStream.open(postroom, ada)];
  await change(postroom, 'leaveRoom', bob, hall);
  expect(await inboxes[0]?.take(1)).toEqual(['MemberLeft hall']);
  inboxes[0]?.socket.complete('inbox');
  inboxes[1]?.socket.webSocket.terminate();
  await untilCounts(postroom, { ...nothingLeft, websockets: 1 });
});
