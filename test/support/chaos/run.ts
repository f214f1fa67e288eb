import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'vitest';
import { query } from '../database/postgres-query.ts';
import { type Person, unbundledProgram } from '../server/postroom.ts';
import { Chaos } from './chaos.ts';
import { checkChanges, checkStreams, checkWrites, readLogs } from './check.ts';
import { Chooser } from './chooser.ts';
import { createClientFactory, retrySoon } from './clients.ts';
import { type Deployment, type DeploymentOptions, deploy } from './deployment.ts';
import { Journal } from './journal.ts';
import { RoomStream } from './stream.ts';
import { Writers } from './writers.ts';

const stepsPerRound = 250;
const writerCount = 6;
const writesPerStage = 20;
/** Half of the clients have credentials and follow a private room, too. */
const clientCount = 6;
/** A generous limit: on a busy machine a node takes seconds to start. */
const convergenceMs = 40_000;

export interface ChaosOptions extends DeploymentOptions {
  seed: number;
  steps: number;
}

/** Nodes with rooms, clients that follow them, and writers. */
export interface Cast {
  deployment: Deployment;
  journal: Journal;
  ada: Person;
  rooms: string[];
  streams: RoomStream[];
  writers: Writers;
}

type Audience = Omit<Cast, 'ada'>;

/** Which the program without a bundle finds. */
const extensions = './examples/extensions/tasks,./examples/extensions/reactions';

export async function assemble({ seed, ...options }: Omit<ChaosOptions, 'steps'>): Promise<Cast> {
  const journal = new Journal();
  const deployment = await deploy(options);
  const { nodes } = deployment;
  const [first] = nodes;
  if (!first) throw new Error('There are no nodes.');
  const { postroom } = first;
  const ada = await postroom.signUp('Ada');
  const open = [await postroom.createRoom(ada, 'lobby'), await postroom.createRoom(ada, 'hall')];
  const createPrivateRoom = 'mutation { createRoom(input: { name: "den", visibility: PRIVATE }) { room { id } } }';
  const privateRoom: string = (await postroom.ask(createPrivateRoom, {}, ada.token)).createRoom.room.id;
  const rooms = [...open, privateRoom];
  const cursors = new Map<string, string>();
  for (const room of rooms) cursors.set(room, await postroom.cursorOf(room, ada.token));
  const choose = new Chooser(seed + 1);
  const hasExtensions = options.settings?.['EXTENSIONS'] !== undefined;
  const createClient = createClientFactory(nodes, choose, retrySoon(choose));
  const streams = Array.from({ length: clientCount }, (_, index) => {
    const hasCredentials = index % 2 === 1;
    const client = createClient(hasCredentials ? ada.token : undefined);
    return (hasCredentials ? rooms : open).map((room, place) => {
      const name = `client${index}.room${place}`;
      return new RoomStream({ name, room, after: cursors.get(room) ?? '', client, journal, hasExtensions });
    });
  }).flat();
  const chooser = new Chooser(seed + 2);
  const writers = new Writers({ nodes, rooms, token: ada.token, choose: chooser, journal, hasExtensions });
  return { deployment, journal, ada, rooms, streams, writers };
}

/** Resolves when each node has acknowledged more posts. */
export async function untilWritten({ writers, deployment }: Cast): Promise<void> {
  const counts = () =>
    deployment.nodes.map(
      ({ name }) => writers.writes.filter((write) => write.outcome === 'acknowledged' && write.via === name).length,
    );
  const before = counts();
  await expect
    .poll(() => Math.min(...counts().map((count, index) => count - (before[index] ?? 0))))
    .toBeGreaterThanOrEqual(writesPerStage);
}

/** Runs steps of chaos; after each round everything is repaired, and all clients must have all events. */
export async function runChaos(options: ChaosOptions): Promise<string> {
  const settings = { ...options.settings, EXTENSIONS: extensions };
  const cast = await assemble({ ...options, settings, program: unbundledProgram });
  const { deployment, journal, writers, streams } = cast;
  const chaos = new Chaos({ deployment, writers, journal, choose: new Chooser(options.seed) });
  for (let step = 0; step < options.steps; step += stepsPerRound) {
    writers.start(writerCount);
    await chaos.run(Math.min(stepsPerRound, options.steps - step));
    await chaos.heal();
    await writers.stop();
    await converge(cast);
    await assertComplete(cast);
  }
  const deliveries = streams.reduce((sum, stream) => sum + stream.deliveries, 0);
  const events = [...(await readLogs(deployment.databaseUrl)).values()].reduce((sum, log) => sum + log.length, 0);
  const summary = `${options.steps} steps, ${events} events, ${deliveries} deliveries, ${JSON.stringify(journal.counts)}`;
  journal.note(`seed ${options.seed}: ${summary}`);
  return summary;
}

/** Resolves when every stream has reached the end of the log. */
export async function converge({ deployment, journal, rooms, streams, writers }: Audience): Promise<number> {
  const startedAt = performance.now();
  const isLate = () => performance.now() - startedAt > convergenceMs;
  for (const room of rooms) {
    for (const node of deployment.nodes) {
      while ((await writers.post(node, room)) !== 'acknowledged') {
        if (isLate()) return fail(journal, `${node.name} acknowledges no post`);
        await wait(100);
      }
    }
  }
  for (;;) {
    const heads = await readHeads(deployment.databaseUrl);
    const behind = streams.filter(({ room, position }) => position.seq !== heads.get(room));
    if (behind.length === 0) break;
    if (isLate()) {
      for (const { name, room, position } of behind) {
        fail(journal, `${name} is at ${position.seq}, and the log at ${heads.get(room)}`);
      }
      break;
    }
    await wait(20);
  }
  const tookMs = performance.now() - startedAt;
  journal.note(`all streams are complete after ${tookMs.toFixed(0)} ms`);
  return tookMs;
}

/** Compares the log with what the streams received and what the writers were answered. @throws Error after a violation. */
export async function assertComplete(
  { deployment, journal, streams, writers }: Audience,
  writes = writers.writes,
): Promise<void> {
  const logs = await readLogs(deployment.databaseUrl, writers.hasExtensions);
  checkChanges(logs, writers.changes, journal);
  checkStreams(logs, streams, journal);
  checkWrites(logs, writes, journal);
  journal.assertNoViolation();
}

interface RoomHead {
  id: string;
  head: number;
}

export async function readHeads(databaseUrl: string): Promise<Map<string, number>> {
  const rows = await query<RoomHead>(databaseUrl, 'select "id", "head"::int as "head" from "rooms"');
  return new Map(rows.map(({ id, head }) => [id, head]));
}

function fail(journal: Journal, text: string): number {
  journal.violate(text);
  return Number.POSITIVE_INFINITY;
}
