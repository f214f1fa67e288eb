import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inRepository } from '../../scripts/repository.ts';
import { exceptions } from '../support/boundaries/exceptions.ts';
import { type Boundary, findBoundaries, findServerFiles } from '../support/boundaries/scan.ts';
import { arm, launchInstrumented, lineOf, reports } from '../support/boundaries/server.ts';
import { closed, destroyed, longer, type Scene, workloads } from '../support/boundaries/workloads.ts';
import { EventStream } from '../support/clients/event-stream.ts';
import { ProtocolSocket, type Result } from '../support/clients/protocol-socket.ts';
import type { ReceivedQueue } from '../support/clients/received-queue.ts';
import { writeManyRows } from '../support/database/many-rows.ts';
import type { Person, PostroomProcess } from '../support/server/postroom.ts';

/* An exception in the work of one connection ends that connection, never the process. */

const isOfOtherDatabase = (id: string) => id.startsWith('data/postgres/');
const boundaries = findServerFiles()
  .flatMap((file) => findBoundaries(file, readFileSync(inRepository(`src/${file}`), 'utf8')))
  .filter(({ id }) => reasonOf(id) === undefined && !isOfOtherDatabase(id));

function reasonOf(id: string): string | undefined {
  return exceptions[id] ?? exceptions[id.slice(0, id.indexOf(':'))];
}

/** Boundaries of work that all connections share: the exception is logged, and the work is tried again. */
const shared = new Set<string>(['live/pace.ts: contain(work)']);
/** Boundaries that these workloads do not pass: another test makes them throw. */
const elsewhere = new Set<string>([
  'live/bus/checked-connection.ts: contain((text: string) => this.#receive(text))',
  'transport/long-connections.ts: containEach(remaining.splice(0, batchSize))',
  'transport/long-connections.ts: containEach(this.byId.values())',
]);

const folder = mkdtempSync(join(tmpdir(), 'postroom-test-'));
let postroom: PostroomProcess;
let people: { author: Person; witness: Person };
let rooms: { room: string; longRoom: string; witnessed: string };

beforeAll(async () => {
  const file = join(folder, 'postroom.db');
  postroom = await launchInstrumented({ DATABASE_URL: `sqlite:${file}`, STALL_SECONDS: '2', METRICS_PORT: '0' });
  const [author, witness] = [await postroom.signUp('Author'), await postroom.signUp('Witness')];
  people = { author, witness };
  const create = (name: string) => postroom.createRoom(author, name);
  rooms = { room: await create('room'), longRoom: await create('long'), witnessed: await create('witnessed') };
  for (let count = 0; count < 20; count += 1)
    await postroom.createPost(author, rooms.longRoom, 'long', 'x'.repeat(9_000));
  writeManyRows(file);
});
afterAll(async () => {
  await postroom.stop();
  rmSync(folder, { recursive: true });
});

function sceneOf(from: number, untilThrown: Scene['untilThrown']): Scene {
  const metricsUrl = String(postroom.log.find(({ msg }) => msg === 'started')?.['metrics']);
  const untilPassed = (id: string) =>
    lineOf(postroom, from, ({ msg, boundary }) => msg === 'passed' && boundary === id);
  return { postroom, metricsUrl, author: people.author, ...rooms, endings: [], untilPassed, untilThrown };
}

/**
 * The workloads that pass each boundary, or that schedule its timer. On a busy machine a short one may pass a boundary that
 * it usually does not, such as that of a ping.
 */
async function findWorkloads(): Promise<Map<string, Set<string>>> {
  const found = { passed: new Map<string, Set<string>>(), scheduled: new Map<string, Set<string>>() };
  for (const [name, work] of Object.entries(workloads)) {
    const from = await arm(postroom);
    const scene = sceneOf(from, async () => undefined);
    await work(scene);
    // The server has noticed the end of its last connection before it answers this request.
    await fetch(scene.metricsUrl);
    for (const { msg, boundary } of postroom.log.slice(from)) {
      const map = found[msg as keyof typeof found];
      map?.set(String(boundary), (map.get(String(boundary)) ?? new Set()).add(name));
    }
  }
  const ids = boundaries.map(({ id }) => id);
  const namesOf = (id: string) => [
    ...(longer[id] ? [longer[id]] : []),
    ...(found.passed.get(id) ?? []),
    ...(found.scheduled.get(id) ?? []),
  ];
  return new Map(ids.map((id) => [id, new Set(namesOf(id))]));
}

/** After this time the next workload is tried. */
const retryMs = 2_000;

let finding: Promise<Map<string, Set<string>>> | undefined;

/** A subscriber of another room. Its connection does not pass the boundaries of the other transport. */
async function openWitness(isHttp: boolean): Promise<ReceivedQueue<Result>> {
  const query = `subscription { roomEvents(room: "${rooms.witnessed}") { __typename } }`;
  if (isHttp) return (await EventStream.open(postroom.graphqlUrl, query)).results;
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  const { start, results } = socket.subscribe('w', query);
  await start;
  return results;
}

/** Throws in a boundary while its workload runs; a witness on another connection misses nothing. */
async function expectContained({ id }: Boundary): Promise<void> {
  finding ??= findWorkloads();
  const names = [...((await finding).get(id) ?? [])];
  if (names.length === 0)
    throw new Error(`src/${id} is passed by no workload of this test. Add a workload, or an exception with a reason.`);
  const witness = await openWitness(/^transport\/(?!http|metrics)/.test(id));
  const from = await arm(postroom, id);
  const threw = (timeout?: number) => lineOf(postroom, from, ({ msg }) => msg === 'threw', timeout);
  const scene = sceneOf(from, (ended) => Promise.race([ended, threw().then(() => ended)]));
  for (const name of names) {
    await workloads[name]?.(scene);
    if (await threw(retryMs).then(Boolean, () => false)) break;
  }
  await threw();
  const line = await lineOf(postroom, from, reports(id));
  await postroom.createPost(people.author, rooms.witnessed, 'news');
  expect((await witness.next()).data).toBeDefined();
  expect(postroom.log.slice(from).filter(reports(id))).toEqual([line]);
  expect(postroom.process.exitCode).toBe(null);
  if (shared.has(id)) return;
  expect(line['requestId'] ?? line['connectionId'], JSON.stringify(line)).toBeTypeOf('string');
  const isAfterEnd = /'(?:close|finish|end|error)'|leave/.test(id);
  if (!isAfterEnd) expect(scene.endings).toContainEqual(expect.toBeOneOf([500, 1011, 1006, destroyed, closed]));
}

describe('an exception ends the connection, is logged once with its id, and no other connection notices it, in', () => {
  it.each(boundaries.filter(({ id }) => !elsewhere.has(id)))('$id', expectContained);
});
