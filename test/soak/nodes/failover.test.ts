import { expect, it } from 'vitest';
import { type Logs, readLogs } from '../../support/chaos/check.ts';
import { canDeploy, skipNote } from '../../support/chaos/deployment.ts';
import { assemble, assertComplete, type Cast, converge } from '../../support/chaos/run.ts';
import { Standby } from '../../support/chaos/standby.ts';
import { RoomStream } from '../../support/chaos/stream.ts';
import type { Write } from '../../support/chaos/writers.ts';

/* A standby of PostgreSQL becomes the server, and all nodes connect to it. */

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const writerCount = 6;
const writeCount = 400;
const maxNoticeMs = 2_000;

function acknowledgedBy({ writers }: Cast): Write[] {
  return writers.writes.filter(({ outcome }) => outcome === 'acknowledged');
}

/** Resolves when `writeCount` more posts are acknowledged. */
async function untilWritten(cast: Cast): Promise<void> {
  const before = acknowledgedBy(cast).length;
  await expect.poll(() => acknowledgedBy(cast).length - before).toBeGreaterThanOrEqual(writeCount);
}

async function write(cast: Cast): Promise<void> {
  cast.writers.start(writerCount);
  await untilWritten(cast);
  await cast.writers.stop();
}

/** Two nodes on a server with a standby. */
async function assembleWithStandby(withRedis: boolean) {
  const cast = await assemble({ seed, nodes: 2, withRedis });
  return { cast, standby: await Standby.start(cast.deployment) };
}

function headsOf(logs: Logs): Map<string, number> {
  return new Map([...logs].map(([room, log]) => [room, log.length]));
}

async function untilReplicated(cast: Cast, standby: Standby): Promise<void> {
  const expected = headsOf(await readLogs(cast.deployment.databaseUrl));
  await expect.poll(async () => headsOf(await readLogs(standby.databaseUrl))).toEqual(expected);
}

for (const withRedis of [true, false]) {
  const bus = withRedis ? 'Redis' : 'PostgreSQL';

  it.skipIf(!canDeploy)(
    `a failover without loss expires no cursor, and loses, repeats and reorders no event (bus of ${bus})${skipNote}`,
    async ({ annotate }) => {
      await annotate(`seed ${seed}`);
      const { cast, standby } = await assembleWithStandby(withRedis);
      const { writers, streams, journal } = cast;
      await standby.replicateSynchronously();
      writers.start(writerCount);
      await untilWritten(cast);
      await standby.takeOver();
      await untilWritten(cast);
      await writers.stop();
      await annotate(`complete after ${(await converge(cast)).toFixed(0)} ms, ${JSON.stringify(journal.counts)}`);
      await assertComplete(cast);
      expect(streams.map(({ segments }) => segments.length)).toEqual(streams.map(() => 1));
    },
  );

  it.skipIf(!canDeploy)(
    `after a failover with loss, cursors up to the fork continue, and later ones and live streams get CURSOR_EXPIRED before any new event (bus of ${bus})${skipNote}`,
    async ({ annotate }) => {
      await annotate(`seed ${seed}`);
      const { cast, standby } = await assembleWithStandby(withRedis);
      const { deployment, writers, streams, journal } = cast;
      await write(cast);
      await untilReplicated(cast, standby);
      standby.lag();
      const fork = headsOf(await readLogs(deployment.databaseUrl));
      await write(cast);
      await converge(cast);
      const lost = await readLogs(deployment.databaseUrl);
      const cursors = cursorsAround(cast, fork);
      const isKept = new Set(
        [...lost].flatMap(([room, log]) => log.slice(0, fork.get(room)).map(({ title }) => title)),
      );
      const kept = writers.writes.filter(({ title }) => isKept.has(title));
      const later = writers.writes.length;

      await standby.takeOver();
      const tookOverAt = performance.now();
      writers.start(writerCount);
      const expired = () => streams.filter(({ segments }) => segments[0]?.end?.code === 'CURSOR_EXPIRED');
      await expect.poll(() => expired().length, { interval: 10 }).toBe(streams.length);
      const noticedMs = Math.max(...streams.map(({ segments }) => (segments[0]?.end?.at ?? 0) - tookOverAt));
      const askedAt = performance.now();
      await deployment.nodes[0]?.postroom.ask('{ posts(limit: 1) { data { id } } }');
      const readMs = performance.now() - askedAt;
      await writers.stop();
      const resumed = cursors.map(({ stream, cursor, isLost }) => {
        const name = `${stream.name} from ${isLost ? 'after' : 'before'} the fork`;
        const { room, client } = stream;
        return { isLost, stream: new RoomStream({ name, room, after: cursor, client, journal }) };
      });
      streams.push(...resumed.map(({ stream }) => stream));
      await write(cast);
      await converge(cast);
      await annotate(`noticed after ${noticedMs.toFixed(0)} ms, ${JSON.stringify(journal.counts)}`);

      await assertComplete(cast, [...kept, ...writers.writes.slice(later)]);
      for (const { isLost, stream } of resumed) expect(stream.segments).toHaveLength(isLost ? 2 : 1);
      expect(kept.length).toBeGreaterThan(0);
      // How long a read takes meanwhile says how slow the machine is.
      expect(noticedMs).toBeLessThan(maxNoticeMs + 10 * readMs);
    },
  );
}

/** For each stream, a cursor before the fork, the last one up to it, the first one after it, and its last one. */
function cursorsAround({ streams }: Cast, fork: ReadonlyMap<string, number>) {
  return streams.flatMap((stream) => {
    const head = fork.get(stream.room) ?? 0;
    const received = stream.segments[0]?.events ?? [];
    const last = received.at(-1)?.seq ?? 0;
    expect(last).toBeGreaterThan(head);
    return [...new Set([Math.ceil(head / 2), head, head + 1, last])].flatMap((seq) => {
      const cursor = received.find((event) => event.seq === seq)?.cursor;
      return cursor === undefined ? [] : [{ stream, cursor, isLost: seq > head }];
    });
  });
}
