import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { canDeploy, skipNote } from '../../support/chaos/deployment.ts';
import type { ChaosNode } from '../../support/chaos/node.ts';
import { assemble, assertComplete, converge, untilWritten } from '../../support/chaos/run.ts';
import { type LiveOperation, ProtocolSocket } from '../../support/clients/protocol-socket.ts';
import { scratchName } from '../../support/rooms/names.ts';
import { type EarlierProgram, hasEarlierProgram, installEarlierProgram } from '../../support/run/earlier-program.ts';
import { launchProcessForTest, mainProgram, type Postroom, scratchFolder } from '../../support/server/postroom.ts';

/* A program of an earlier version and this one serve the same database, in turn and at the same time. */

const noHistory = hasEarlierProgram ? '' : ' (skipped, because the history of the repository is not complete)';
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const writerCount = 6;
const settings = { NODE_OPTIONS: '' };

let earlier: EarlierProgram | undefined;
let earlierProgram: string[];

beforeAll(async () => {
  if (!hasEarlierProgram) return;
  earlier = await installEarlierProgram();
  earlierProgram = earlier.program;
});

afterAll(() => earlier?.remove());

const events = `subscription ($room: ID!, $after: String) {
  roomEvents(room: $room, after: $after) { __typename cursor ... on PostCreated { post { title } } }
}`;

interface Watch extends LiveOperation {
  socket: ProtocolSocket;
}

async function watch({ webSocketUrl }: Postroom, room: string, after?: string): Promise<Watch> {
  const socket = await ProtocolSocket.open(webSocketUrl);
  const operation = socket.subscribe('e', events, { room, after });
  await operation.start;
  return { ...operation, socket };
}

/** The titles of created posts, and the types of other events. */
async function take({ results }: LiveOperation, count: number): Promise<string[]> {
  const received = (await results.take(count)).map(({ data }) => data.roomEvents);
  return received.map(({ __typename, post }) => post?.title ?? __typename);
}

it.skipIf(!hasEarlierProgram)(
  `on SQLite the earlier program starts again on migrated tables, and clients resume with the cursors of either program${noHistory}`,
  async () => {
    const own = { ...settings, DATABASE_URL: `sqlite:${join(scratchFolder(), 'postroom.db')}` };
    const started = await launchProcessForTest(own, earlierProgram);
    const ada = await started.signUp('Ada');
    const room = await started.createRoom(ada, 'lobby');
    const start = await started.cursorOf(room);
    await started.stop();
    const written: string[] = [];
    let [after, program]: [string, string[]] = [start, mainProgram];
    for (const round of ['first', 'second', 'third', 'fourth']) {
      const postroom = await launchProcessForTest(own, program);
      const [fromStart, resumed] = [await watch(postroom, room, start), await watch(postroom, room, after)];
      const titles = [`${round}, missed`, `${round}, live`];
      expect(await take(fromStart, written.length)).toEqual(written);
      for (const title of titles) await postroom.createPost(ada, room, title);
      expect(await take(fromStart, 2)).toEqual(titles);
      // The position before the last event that the stream has received: the other program has to send it.
      expect(await take(resumed, 2 + Math.min(1, written.length))).toEqual([...written.slice(-1), ...titles]);
      after = resumed.results.all.at(-2)?.data.roomEvents.cursor;
      written.push(...titles);
      await postroom.stop();
      expect((await resumed.socket.closed).code).toBe(1012);
      program = program === mainProgram ? earlierProgram : mainProgram;
    }
  },
);

/** Changes a room and an account by one node, and follows them by another. */
async function checkBoth(writer: Postroom, reader: Postroom): Promise<void> {
  const bob = await writer.signUp('Bob');
  const [room, own] = [await writer.createRoom(bob, scratchName()), await writer.createRoom(bob, scratchName())];
  const [watched, watchedOwn] = [await watch(reader, room), await watch(reader, own)];
  await writer.createPost(bob, room, 'by one');
  await reader.createPost(bob, room, 'by the other');
  expect(await take(watched, 2)).toEqual(['by one', 'by the other']);
  await writer.ask('mutation ($id: ID!) { deleteRoom(input: { id: $id }) { room { id } } }', { id: own }, bob.token);
  expect((await watchedOwn.refused)[0]?.extensions.code).toBe('ROOM_DELETED');
  const deleteUser = 'mutation ($id: ID!) { deleteUser(input: { id: $id, deletePosts: true }) { user { id } } }';
  await writer.ask(deleteUser, { id: bob.id }, bob.token);
  const left = await take(watched, 4);
  expect(left.toSorted()).toEqual(['MemberLeft', 'PostDeleted', 'PostDeleted', 'RoomUpdated']);
  await expect.poll(async () => (await reader.send('{ viewer { id } }', {}, bob.token)).code).toBe('UNAUTHENTICATED');
}

it.skipIf(!canDeploy || !hasEarlierProgram).each([
  { withRedis: false, bus: "PostgreSQL's notifications" },
  { withRedis: true, bus: 'Redis' },
])(
  `nodes of this program replace those of the earlier one under load, and back: each acknowledged event arrives once, in order, over $bus${skipNote}${noHistory}`,
  async ({ withRedis }) => {
    const cast = await assemble({ seed, nodes: 2, withRedis, settings, program: earlierProgram });
    const { deployment, writers, streams } = cast;
    const [first, second] = deployment.nodes as [ChaosNode, ChaosNode];
    writers.start(writerCount);
    await untilWritten(cast);
    await first.replaceProgram(mainProgram);
    await untilWritten(cast);
    await checkBoth(first.postroom, second.postroom);
    await checkBoth(second.postroom, first.postroom);
    await second.replaceProgram(mainProgram);
    await untilWritten(cast);
    await first.replaceProgram(earlierProgram);
    await untilWritten(cast);
    await second.replaceProgram(earlierProgram);
    await untilWritten(cast);
    await writers.stop();
    await converge(cast);
    await assertComplete(cast);
    expect(streams.map(({ segments }) => segments.length)).toEqual(streams.map(() => 1));
  },
);
