import { expect, it } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { readMetrics } from '../support/engine/metrics.ts';
import { seqOf, seqsBetween } from '../support/rooms/cursors.ts';
import { comparisonsOf } from '../support/rooms/heads.ts';
import { type BusFault, createUnreliableBus } from '../support/rooms/unreliable-bus.ts';
import { launchForTest, type Postroom } from '../support/server/postroom.ts';
import { advanceTime, withVirtualTimers } from '../support/server/virtual-timers.ts';

const pollOptions = { interval: 5 };

/** Starts a server on a bus with the given fault. It compares the heads of rooms with the log when the test lets time pass. */
function launchOn(fault: BusFault): Promise<Postroom> {
  return withVirtualTimers(() => launchForTest({ LOG_LEVEL: 'debug' }, { bus: createUnreliableBus(fault) }));
}

function follow(room: string): string {
  return `subscription { roomEvents(room: "${room}") { cursor ... on PostCreated { post { title } } } }`;
}

interface Reader {
  /** The sequence number of the position from which the reader started. */
  from: number;
  /** The sequence numbers of the received events, in the order of arrival. */
  seqs: () => number[];
}

async function followBySocket(postroom: Postroom, room: string): Promise<Reader> {
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  const start = await socket.follow('1', follow(room));
  const seqs = () => socket.nexts('1').map(({ data }) => seqOf(data.roomEvents.cursor));
  return { from: seqOf(start), seqs };
}

/** Lets a comparison of heads run. */
async function compare(postroom: Postroom): Promise<void> {
  const compared = comparisonsOf(postroom);
  advanceTime(1_500);
  await expect.poll(() => comparisonsOf(postroom), pollOptions).toBe(compared + 1);
}

it('when the bus sends no messages, each event is delivered after the next comparison of heads', async () => {
  const postroom = await launchOn('losesAll');
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'silent');
  const reader = await followBySocket(postroom, room);
  for (let round = 1; round <= 2; round += 1) {
    await postroom.createPost(ada, room, 'unannounced');
    expect(reader.seqs()).toHaveLength(round - 1);
    await compare(postroom);
    await expect.poll(reader.seqs, pollOptions).toEqual(seqsBetween(reader.from, reader.from + round));
  }
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  await socket.follow('1', follow(room));
  await postroom.ask('mutation ($id: ID!) { deleteRoom(input: { id: $id }) { room { id } } }', { id: room }, ada.token);
  await compare(postroom);
  expect(await socket.take()).toMatchObject({ type: 'error', payload: [{ extensions: { code: 'ROOM_DELETED' } }] });
});

it('an event that the bus lost is delivered as a replay: with the post as it is now, and without it if it was deleted', async () => {
  const postroom = await launchOn('losesAll');
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'forgetful');
  const draft = async (title: string) => {
    const mutation = `mutation ($room: ID!, $title: String!) {
      createPost(input: { room: $room, title: $title, publish: false }) { post { id } }
    }`;
    return (await postroom.ask(mutation, { room, title }, ada.token)).createPost.post.id;
  };
  const variables = { kept: await draft('as written'), gone: await draft('never seen') };
  const query = `subscription ($room: ID!) {
    roomEvents(room: $room) { __typename ... on PostCreated { post { title } } ... on PostUpdated { post { title } } }
  }`;
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  await socket.follow('1', query, { room });
  await postroom.ask(
    `mutation ($kept: ID!, $gone: ID!) {
      a: publishPost(input: { id: $kept }) { post { id } }
      b: updatePost(input: { id: $kept, title: "as it is now" }) { post { id } }
      c: publishPost(input: { id: $gone }) { post { id } }
      d: deletePost(input: { id: $gone }) { post { id } }
    }`,
    variables,
    ada.token,
  );
  await compare(postroom);
  await expect.poll(() => socket.nexts('1').length, pollOptions).toBe(4);
  expect(socket.nexts('1').map(({ data }) => data.roomEvents)).toEqual([
    { __typename: 'PostCreated', post: { title: 'as it is now' } },
    { __typename: 'PostUpdated', post: { title: 'as it is now' } },
    { __typename: 'PostCreated', post: null },
    { __typename: 'PostDeleted' },
  ]);
});

it('forged messages on the bus move no subscriber, and cause a bounded number of reads', async () => {
  const postroom = await launchOn('forges');
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'forged messages');
  const reader = await followBySocket(postroom, room);
  const { log_reads_total: before = 0 } = await readMetrics(postroom);
  for (let index = 0; index < 20; index += 1) await postroom.createPost(ada, room, 'once');
  await expect.poll(() => reader.seqs().length, pollOptions).toBeGreaterThanOrEqual(20);
  expect(reader.seqs()).toEqual(seqsBetween(reader.from, reader.from + 20));
  const { log_reads_total: after = 0 } = await readMetrics(postroom);
  expect(after - before).toBeLessThanOrEqual(20 * 4);
});
