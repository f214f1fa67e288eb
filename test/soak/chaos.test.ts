import type { Client } from 'graphql-ws';
import { expect, it, onTestFinished } from 'vitest';
import { ChaosCluster } from '../support/chaos/chaos-cluster.ts';
import { EventChecker } from '../support/chaos/event-checker.ts';
import { pick, steps } from '../support/chaos/steps.ts';
import { openCursor, seqOf } from '../support/cursors.ts';
import { createFaultProxy, type FaultProxy } from '../support/fault-proxy.ts';
import { postgresPrograms } from '../support/postgres-cluster.ts';
import type { Person, Postroom, ReplyError } from '../support/postroom.ts';
import { openDocumented } from '../support/resume-docs.ts';
import { createRandom } from '../support/unreliable-bus.ts';

const stepCount = Number(process.env['CHAOS_STEPS'] ?? 200);
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
/** After this number of steps all readers must catch up. */
const stepsPerCheck = 10;
const readerCount = 4;
const writerCount = 3;
const retryWaitMs = 50;
const timeoutMs = 30_000 + stepCount * 10_000;

interface Event {
  roomEvents: { cursor: string; post: { title: string } | null };
}

/** Subscribes with graphql-ws and the options of docs/resume.md. After a notice it subscribes again from its cursor. */
async function read(live: Client, { room, name, checker }: { room: string; name: string; checker: EventChecker }) {
  const query = `subscription ($room: ID!, $after: String) {
    roomEvents(room: $room, after: $after) { cursor ... on PostCreated { post { title } } }
  }`;
  const started = Promise.withResolvers<void>();
  live.on('ping', (_, payload) => {
    const [cursor] = Object.values((payload?.['live'] ?? {}) as Record<string, string>);
    if (cursor === undefined) return;
    if (!checker.hasReader(name)) checker.addReader(name, seqOf(cursor));
    started.resolve();
  });
  const follow = (after?: string): void => {
    let last = after;
    const resume = (errors: unknown) => {
      const [error] = errors as ReplyError[];
      const { code = 'none', live: position } = error?.extensions ?? {};
      if (position) checker.receive(name, { type: 'notice', code, seq: seqOf(position.cursor) });
      setTimeout(() => follow(position?.cursor ?? last), retryWaitMs);
    };
    live.subscribe<Event>(
      { query, variables: { room, after } },
      {
        next({ data, errors }) {
          if (!data) throw new Error(JSON.stringify(errors));
          const { cursor, post } = data.roomEvents;
          last = cursor;
          const { seq, mark } = openCursor(cursor);
          checker.receive(name, { type: 'event', seq, mark, title: post?.title ?? 'deleted' });
        },
        error: resume,
        complete: () => checker.receive(name, { type: 'event', seq: -1, mark: '', title: 'the stream was completed' }),
      },
    );
  };
  follow();
  await started.promise;
}

/** Creates posts until `signal` is aborted. A write that was not answered is not repeated. */
async function write(
  server: () => Postroom,
  { room, author, name, checker }: { room: string; author: Person; name: string; checker: EventChecker },
  signal: AbortSignal,
): Promise<void> {
  for (let count = 0; !signal.aborted; count += 1) {
    const title = `${name} ${count}`;
    checker.attempt(title);
    await server()
      .createPost(author, room, title)
      .then(
        () => checker.acknowledge(name, title),
        () => new Promise((resolve) => setTimeout(resolve, retryWaitMs)),
      );
  }
}

it.skipIf(postgresPrograms === undefined).each([
  [2, false],
  [3, true],
])(
  `chaos with %s nodes (with Redis: %s): every acknowledged event once, in order, or notified: ${stepCount} steps, SEED=${seed} (skipped without PostgreSQL)`,
  async (nodeCount, withRedis) => {
    const random = createRandom(seed);
    const cluster = await ChaosCluster.start(nodeCount, withRedis);
    onTestFinished(() => cluster.close());
    const checker = new EventChecker();
    const [first] = cluster.nodes;
    if (!first) throw new Error('There is no node.');
    const ada = await first.postroom.signUp('Ada');
    const room = await first.postroom.createRoom(ada, 'chaos');
    const proxies: FaultProxy[] = [];
    for (let index = 0; index < readerCount; index += 1) {
      const proxy = await createFaultProxy(`${cluster.url}/graphql`);
      onTestFinished(() => proxy.close());
      proxies.push(proxy);
      const { live } = await openDocumented('live', proxy.url, retryWaitMs);
      await read(live, { room, name: `reader ${index}`, checker });
    }
    const writing = new AbortController();
    const anyNode = () => pick(cluster.nodes, Math.random).postroom;
    const writers = Array.from({ length: writerCount }, (_, index) =>
      write(anyNode, { room, author: ada, name: `writer ${index}`, checker }, writing.signal),
    );
    const done: string[] = [];
    let checks = 0;
    const catchUp = async () => {
      const due = checker.countAcknowledged();
      const title = `check ${++checks}`;
      checker.attempt(title);
      await expect
        .poll(() => first.postroom.createPost(ada, room, title).catch(() => ''), { timeout: 20_000 })
        .not.toBe('');
      checker.acknowledge('checker', title);
      const waiting = () => checker.readers.filter((reader) => !checker.hasReceived(reader, title));
      await expect.poll(waiting, { timeout: 30_000, message: `after ${done.slice(-stepsPerCheck)}` }).toEqual([]);
      expect(checker.findProblems(due), `after ${done.slice(-stepsPerCheck)}`).toEqual([]);
    };
    const names = Object.keys(steps).filter((name) => withRedis || !name.includes('Redis'));
    while (done.length < stepCount) {
      const name = pick(names, random);
      await steps[name]?.({ cluster, readers: proxies, random });
      done.push(name);
      if (done.length % stepsPerCheck === 0) await catchUp();
    }
    writing.abort();
    await Promise.all(writers);
    await catchUp();
    expect(checker.acknowledgedCount).toBeGreaterThan(stepCount);
  },
  timeoutMs,
);
