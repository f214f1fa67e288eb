import { setTimeout as wait } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { Chooser } from '../../support/chaos/chooser.ts';
import { createClientFactory } from '../../support/chaos/clients.ts';
import { canDeploy, deploy, skipNote } from '../../support/chaos/deployment.ts';
import { Journal } from '../../support/chaos/journal.ts';
import type { ChaosNode } from '../../support/chaos/node.ts';
import { assertComplete, converge, readHeads } from '../../support/chaos/run.ts';
import { RoomStream } from '../../support/chaos/stream.ts';
import { Writers } from '../../support/chaos/writers.ts';

const clientCount = 300;
const roomCount = 10;
/** 100 events per second. */
const postMs = 10;
const pollMs = 100;
const drainTimeoutMs = 30_000;
/** A generous limit: the figure is reported. */
const timeoutMs = 300_000;

const moves: { how: string; leave: (node: ChaosNode) => Promise<unknown> }[] = [
  { how: 'a node that is drained', leave: (node) => node.drain(drainTimeoutMs) },
  { how: 'a node that is killed', leave: (node) => node.kill() },
];

it.skipIf(!canDeploy).for(moves)(
  `${clientCount} clients of $how are complete on another node, while 100 events are written per second${skipNote}`,
  async ({ leave }, { annotate }) => {
    const journal = new Journal();
    const deployment = await deploy({ nodes: 2, withRedis: true });
    const [from, to] = deployment.nodes as [ChaosNode, ChaosNode];
    const ada = await to.postroom.signUp('Ada');
    const rooms: string[] = [];
    for (let index = 0; index < roomCount; index += 1) rooms.push(await to.postroom.createRoom(ada, `room ${index}`));
    const cursors = new Map<string, string>();
    for (const room of rooms) cursors.set(room, await to.postroom.cursorOf(room));

    const targets = [from];
    const createClient = createClientFactory(targets, new Chooser(1));
    const isConnected = new Set<number>();
    const streams = Array.from({ length: clientCount }, (_, index) => {
      const room = rooms[index % roomCount] ?? '';
      const client = createClient();
      client.on('connected', () => isConnected.add(index));
      return new RoomStream({ name: `client${index}`, room, after: cursors.get(room) ?? '', client, journal });
    });
    const writers = new Writers({ nodes: [to], rooms, token: ada.token, choose: new Chooser(2), journal });
    const pending: Promise<unknown>[] = [];
    const writing = setInterval(() => {
      pending.push(writers.post(to, rooms[pending.length % roomCount] ?? ''));
    }, postMs);
    onTestFinished(() => clearInterval(writing));
    await expect.poll(() => streams.every(({ position }) => position.seq > 10), { timeout: timeoutMs }).toBe(true);

    targets[0] = to;
    isConnected.clear();
    const leftAt = performance.now();
    const left = leave(from).then(() => performance.now());
    // A stream is complete when it has everything that was committed one poll ago.
    let heads = await readHeads(deployment.databaseUrl);
    const isComplete = () =>
      isConnected.size === clientCount && streams.every(({ room, position }) => position.seq >= (heads.get(room) ?? 0));
    while (performance.now() - leftAt < timeoutMs) {
      const next = await readHeads(deployment.databaseUrl);
      await wait(pollMs);
      if (isComplete()) break;
      heads = next;
    }
    const tookMs = performance.now() - leftAt;
    expect(isConnected.size).toBe(clientCount);
    expect(await left).toBeGreaterThan(leftAt);
    clearInterval(writing);
    await Promise.all(pending);
    await from.start();
    const audience = { deployment, journal, rooms, streams, writers };
    await converge(audience);
    await annotate(
      `back and complete after ${tookMs.toFixed(0)} ms, ${pending.length} posts, ${JSON.stringify(journal.counts)}`,
    );
    journal.note(`back and complete after ${tookMs.toFixed(0)} ms, ${pending.length} posts`);
    await assertComplete(audience);
  },
);
