import type { Client } from 'graphql-ws';
import { createPostgres, createSqlite, type TestDatabase } from './database.ts';
import { Scene } from './scene.ts';
import { type Caller, callers, type ExtensionTest, type Round } from './test.ts';

export type { Caller, ExtensionTest, Round } from './test.ts';

/**
 * Runs a server with the extension, and checks who sees and changes what, that the number of SQL statements of a read does
 * not grow with its rows, that subscribers receive every event once and in order through cuts, and that no row is left of a
 * deleted room or account. @throws Error with all problems of the first check that has any.
 */
export async function testExtension(test: ExtensionTest): Promise<void> {
  const database = test.postgres ? await createPostgres(test.postgres) : createSqlite();
  const scene = new Scene(test, database.settings);
  try {
    await scene.start();
    for (const check of [checkEvents, checkAccess, checkStatements, checkDeletedRoom, checkDeletedAccount]) {
      const problems = await check(scene, database);
      if (problems.length > 0) throw new Error(`The extension ${test.name}:\n${problems.join('\n')}`);
    }
  } finally {
    await scene.stop();
    await database.drop();
  }
}

/** The subscriptions to the events of the extension: `roomEvents`, and its own. */
function subscriptionsOf({ mutations, subscription: { field: own, selection } }: ExtensionTest) {
  const types = mutations.flatMap(({ event = [] }) => event).join();
  if (types === '') return [];
  const fields = [{ field: 'roomEvents', more: `, types: [${types}]` }, ...(own ? [{ field: own, more: '' }] : [])];
  return fields.map(({ field, more }) => {
    const selected = `${field}(room: $room, after: $after${more}) { __typename cursor ${selection} }`;
    return { field, query: `subscription ($room: ID!, $after: String) { ${selected} }` };
  });
}

const inside: readonly Caller[] = ['member', 'owner', 'admin'];

/** The table of fields and callers, in a public and in a private room, which must not show that it exists. */
async function checkAccess(scene: Scene): Promise<string[]> {
  const { mutations, reads } = scene.test;
  const problems: string[] = [];
  for (const visibility of ['PUBLIC', 'PRIVATE'] as const) {
    const room = await scene.createRoom(visibility);
    const round = await scene.play(room);
    for (const caller of callers) {
      const isVisible = visibility === 'PUBLIC' || inside.includes(caller);
      const expect = (field: string, outcome: string, ...wanted: string[]) => {
        const is = `${caller}, ${visibility} room: ${field} is ${outcome}`;
        if (!wanted.includes(outcome)) problems.push(`${is}, not ${wanted.join(' or ')}`);
      };
      for (const { document, variables } of reads) {
        const { data, code } = await scene.request(document, variables(round), scene.people[caller]);
        const outcome = code ?? (isNothing(data) ? 'null' : 'read');
        expect(document, outcome, ...(isVisible ? ['read'] : ['null', 'NOT_FOUND']));
      }
      for (const mutation of mutations) {
        const variables = mutation.variables(await scene.play(room, undefined, mutation));
        const { code = 'done' } = await scene.request(mutation.document, variables, scene.people[caller]);
        const refused = [isVisible ? 'FORBIDDEN' : 'NOT_FOUND', ...(caller === 'nobody' ? ['UNAUTHENTICATED'] : [])];
        const isAllowed = (mutation.allowed?.[visibility] ?? ['member', 'owner']).includes(caller);
        expect(mutation.field, code, ...(isAllowed ? ['done'] : refused));
      }
      for (const { field, query } of subscriptionsOf(scene.test)) {
        const client = scene.connect(scene.people[caller]);
        // The events of the past are there at once.
        const outcome = await receive(client, query, { room: room.id, after: room.cursor }, 1).then(
          (events) => (events.length === 1 ? 'delivered' : 'silent'),
          (errors) => errors[0]?.extensions.code ?? errors,
        );
        expect(field, outcome, isVisible ? 'delivered' : 'NOT_FOUND');
      }
    }
  }
  return problems;
}

/** Whether an answer has no value anywhere. */
function isNothing(data: unknown): boolean {
  return data == null || (typeof data === 'object' && Object.values(data).every(isNothing));
}

async function checkStatements(scene: Scene): Promise<string[]> {
  const problems: string[] = [];
  const [few, many] = [await playAll(scene, 2), await playAll(scene, 12)];
  for (const { document, variables } of scene.test.reads) {
    const count = (round: Round) =>
      scene.countStatements(() => scene.ask(document, variables(round), scene.people.member));
    const [ofFew, ofMany] = [await count(few), await count(many)];
    if (ofMany > ofFew) problems.push(`${document} has ${ofFew} statements with 2 rows, and ${ofMany} with 12`);
  }
  return problems;
}

/** The last round of a new room. */
async function playAll(scene: Scene, rounds: number): Promise<Round> {
  const room = await scene.createRoom('PUBLIC');
  for (let round = 1; round < rounds; round += 1) await scene.play(room);
  return scene.play(room);
}

/** Follows the events while the connection is cut at random, and compares them with the mutations and with a replay. */
async function checkEvents(scene: Scene): Promise<string[]> {
  const rounds = 10;
  const wanted = Array.from({ length: rounds }, () => scene.test.mutations.flatMap(({ event = [] }) => event)).flat();
  const { id: room, cursor: start } = await scene.createRoom('PRIVATE');
  const [client, other] = [scene.connect(scene.people.member), scene.connect(scene.people.member)];
  const live = subscriptionsOf(scene.test).map(({ field, query }) => {
    const events = receive(client, query, { room, after: start }, wanted.length);
    // It is awaited after the mutations.
    events.catch(() => {});
    return { field, query, events };
  });
  for (let round = 0; round < rounds; round += 1) {
    if (round === 1 || Math.random() < 0.5) client.terminate();
    await scene.play({ id: room });
  }
  const problems: string[] = [];
  const compare = (what: string, received: readonly string[], expected: readonly string[]) => {
    if (received.join() !== expected.join()) problems.push(`${what}: ${received.join()}, not ${expected.join()}`);
  };
  for (const { field, query, events } of live) {
    const received = await events.catch((errors) => {
      throw errors instanceof Error ? errors : new Error(`${field}: ${errors[0]?.message}`);
    });
    const types = received.map(({ __typename }) => __typename);
    compare(`${field} through cuts`, types, wanted);
    if (problems.length > 0) break;
    const cursors = [start, ...received.map(({ cursor }) => cursor)];
    const skipped = Math.floor(Math.random() * wanted.length);
    const after = { room, after: cursors[skipped] };
    const replayed = await receive(other, query, after, wanted.length - skipped);
    const numbers = replayed.map(({ cursor }) => String(cursors.indexOf(cursor)));
    compare(`${field} after event ${skipped}`, numbers, Object.keys(cursors).slice(skipped + 1));
  }
  return problems;
}

/** It only ends what would wait for ever. */
const maxMs = 30_000;

/** The first `count` events; fewer if the next one does not arrive. @throws the errors of GraphQL. */
async function receive(client: Client, query: string, variables: Record<string, unknown>, count: number) {
  const events: { __typename: string; cursor: string }[] = [];
  const results = client.iterate<Record<string, (typeof events)[number]>>({ query, variables });
  const timer = setTimeout(() => results.return?.(), maxMs);
  try {
    for await (const { data, errors } of results) {
      if (errors) throw errors;
      timer.refresh();
      if (events.push(...Object.values(data ?? {})) === count) break;
    }
  } finally {
    clearTimeout(timer);
  }
  return events;
}

async function checkDeletedRoom(scene: Scene, database: TestDatabase): Promise<string[]> {
  const { room: id } = await playAll(scene, 3);
  return findRowsAfter(() => scene.change(scene.people.owner, 'deleteRoom', { id }), database, scene.test.name, id);
}

async function checkDeletedAccount(scene: Scene, database: TestDatabase): Promise<string[]> {
  const room = await scene.createRoom('PUBLIC');
  const person = await scene.signUp('deleted');
  await scene.change(person, 'joinRoom', { room: room.id });
  for (let round = 0; round < 3; round += 1) await scene.play(room, person);
  const remove = () => scene.change(person, 'deleteUser', { id: person.id, deletePosts: true }, 'user { id }');
  return findRowsAfter(remove, database, scene.test.name, person.id);
}

/** The rows with the id of what was deleted, in any column. They are deleted after the answer, in steps. */
async function findRowsAfter(remove: () => Promise<unknown>, database: TestDatabase, name: string, id: string) {
  const { query, tables } = database;
  const own = (await query(tables)).map((row) => String(row['name'])).filter((table) => table.startsWith(`${name}_`));
  const find = async () => {
    const rows = await Promise.all(own.map((table) => query(`select * from "${table}"`)));
    return rows.flat().filter((row) => Object.values(row).includes(id));
  };
  if ((await find()).length === 0) return [`no table has ${id}, although all mutations were sent`];
  await remove();
  const unfinished = `select id from rooms where "deletedAt" is not null
    union all select id from users where "erasing" is not null`;
  for (const end = Date.now() + maxMs; Date.now() < end && (await query(unfinished)).length > 0; )
    await new Promise((next) => setTimeout(next, 20));
  return (await find()).map((row) => `${id} is deleted, and is in ${JSON.stringify(row)}`);
}
