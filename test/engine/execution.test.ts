import fc from 'fast-check';
import {
  type GraphQLNamedInputType,
  type GraphQLSchema,
  OperationTypeNode,
  parse,
  type ValidatedExecutionArgs,
  validateExecutionArgs,
} from 'graphql';
import { createSchema } from 'graphql-yoga';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database, Db } from '../../src/data/database/database.ts';
import { openDatabase } from '../../src/data/database/open-database.ts';
import { insertMember } from '../../src/data/domain/memberships.ts';
import { createPostRow, insertPost } from '../../src/data/domain/posts.ts';
import { createRoomRow, insertRoom } from '../../src/data/domain/rooms.ts';
import { insertUser, toPublicUser } from '../../src/data/domain/users.ts';
import { loadSchema } from '../../src/engine/schema.ts';
import type { Viewer } from '../../src/identity/viewer.ts';
import { Context, type Services } from '../../src/resolvers/context.ts';
import type { Choices } from '../support/clients/choices.ts';
import { type GeneratedRequest, requests } from '../support/clients/documents.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { compiled, differOnlyInRace, type Execute, formatResult, stock } from '../support/engine/executors.ts';
import { launchForTest } from '../support/server/postroom.ts';
import { collectUnhandledRejections } from '../support/server/unhandled-rejections.ts';

const unhandled = collectUnhandledRejections();
const executors: [string, Execute][] = [
  ['graphql', stock],
  ['Postroom', compiled],
];

function prepare(
  schema: GraphQLSchema,
  query: string,
  { variableValues = {}, abortSignal }: { variableValues?: Record<string, unknown>; abortSignal?: AbortSignal } = {},
): ValidatedExecutionArgs {
  const args = validateExecutionArgs({ schema, document: parse(query), variableValues, abortSignal });
  if (!('schema' in args)) throw new Error(`${query}: ${args}`);
  return args;
}

it('mutations run one after another; the next begins when the answer of the last is complete', async () => {
  const steps: string[] = [];
  const step = async (name: string) => {
    steps.push(`${name} starts`);
    await new Promise((resolve) => setImmediate(resolve));
    steps.push(`${name} ends`);
    return { name };
  };
  const schema = createSchema({
    typeDefs:
      'type Query { a: Int } type Mutation { step(name: String!): Step } type Step { name: String inner: Step }',
    resolvers: {
      Mutation: { step: (_, { name }) => step(name) },
      Step: { inner: ({ name }) => step(`inside of ${name}`) },
    },
  });
  const args = prepare(schema, 'mutation { a: step(name: "a") { inner { name } } b: step(name: "b") { name } }');
  const { data } = await compiled(args);
  expect(data).toEqual({ a: { inner: { name: 'inside of a' } }, b: { name: 'b' } });
  expect(steps).toEqual(['a starts', 'a ends', 'inside of a starts', 'inside of a ends', 'b starts', 'b ends']);
});

const hanging = createSchema<{ calls: string[] }>({
  typeDefs: 'type Query { hangs: Int works: Int! fails: Int! inner: Query later: Query }',
  resolvers: {
    Query: {
      hangs: (_, __, { calls }) => {
        calls.push('hangs');
        return new Promise<never>(() => {});
      },
      works: (_, __, { calls }) => calls.push('works'),
      fails: async () => Promise.reject(new Error('It fails.')),
      inner: () => ({}),
      later: () => new Promise((resolve) => setImmediate(resolve, {})),
    },
  },
});

it.each(
  executors,
)('a resolver that hangs does not delay the report that the operation was aborted (%s)', async (_, execute) => {
  const abort = new AbortController();
  const contextValue = { calls: [] };
  const args = prepare(hanging, '{ works inner { hangs } }', { abortSignal: abort.signal });
  const running = execute({ ...args, contextValue });
  abort.abort(new Error('The client left.'));
  await expect(running).rejects.toThrow('The client left.');
  expect(contextValue.calls).toEqual(['works', 'hangs']);
});

it.each(executors)('an operation that was aborted before it began calls no resolver (%s)', async (_, execute) => {
  const contextValue = { calls: [] };
  const abortSignal = AbortSignal.abort(new Error('The client left.'));
  const run = async () => execute({ ...prepare(hanging, '{ works }', { abortSignal }), contextValue });
  await expect(run).rejects.toThrow('The client left.');
  expect(contextValue.calls).toEqual([]);
});

it.each(executors)('execution stops when the client of the answer has left (%s)', async (_, execute) => {
  const contextValue = { calls: [] };
  const { data, errors } = await execute({ ...prepare(hanging, '{ later { works } fails }'), contextValue });
  expect([data, errors?.length]).toEqual([null, 1]);
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  expect(contextValue.calls).toEqual([]);
});

it.each(
  executors,
)('a null condition is an error of the field whose selection set contains it (%s)', async (_, execute) => {
  const query = 'query ($is: Boolean = true) { inner { works @include(if: $is) } }';
  const args = prepare(hanging, query, { variableValues: { is: null } });
  const { data, errors } = await execute({ ...args, contextValue: { calls: [] } });
  expect(data).toEqual({ inner: null });
  expect(errors?.map(({ path, message }) => [path, message])).toEqual([
    [['inner'], expect.stringContaining('"@include(if:)" has invalid value')],
  ]);
});

it('a null variable for a non-null argument or condition is a client error, over HTTP and WebSocket', async () => {
  const postroom = await launchForTest();
  const variables = { id: null };
  const query = await postroom.send('query ($id: ID = "x") { node(id: $id) { id } }', variables);
  expect([query.status, query.code, query.data]).toEqual([422, 'VARIABLES_INVALID', { node: null }]);
  const condition = await postroom.send('query ($id: Boolean = true) { viewer @include(if: $id) { id } }', variables);
  expect([condition.status, condition.code]).toEqual([422, 'VARIABLES_INVALID']);
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  socket.subscribe('1', 'subscription ($id: ID = "x") { postAdded(room: $id) { id } }', variables);
  const { type, payload } = await socket.take();
  expect([type, payload[0].extensions.code]).toEqual(['error', 'VARIABLES_INVALID']);
  expect(postroom.log).toEqual([]);
});

const leaves = createSchema({
  typeDefs:
    'type Query { int: Int float: Float string: String boolean: Boolean id: ID intX: Int! mood: Mood } enum Mood { HAPPY }',
});

it.each([
  ['numbers', [0, -0, 1, -1, 1.5, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), 2 ** 40, Number.NaN, Infinity, 7n]],
  ['texts', ['', 'text', '12', '1.5', 'HAPPY', '\u0000', '\ud800']],
  [
    'others',
    [true, false, null, undefined, {}, [], [1], new Date(0), Symbol('symbol'), () => 'called', new Error('error')],
  ],
  ['objects', [{ valueOf: () => 3 }, { toJSON: () => 'json' }, Object('boxed'), Promise.resolve(1)]],
])('%s are serialised to leaves as in graphql-js', async (_, values: unknown[]) => {
  const args = prepare(leaves, '{ int float string boolean id intX mood }');
  for (const value of values) {
    const names = ['int', 'float', 'string', 'boolean', 'id', 'intX', 'mood'];
    const rootValue = Object.fromEntries(names.map((name) => [name, value]));
    expect(formatResult(await compiled({ ...args, rootValue }))).toEqual(
      formatResult(await stock({ ...args, rootValue })),
    );
  }
});

it('sources of every kind are read as in graphql, however often the document came before', async () => {
  const schema = createSchema({
    typeDefs: 'type Query { cats: [Cat] } type Cat { name: String nickname: String age: Int }',
  });
  const args = prepare(schema, '{ cats { __proto__: name nickname age } }');
  const plain = { name: 'Tom', nickname: null, age: 3 };
  for (let time = 0; time < 4; time += 1) {
    const createCats = () => [
      plain,
      new Error('No cat.'),
      Promise.resolve(plain),
      Object.assign(Object.create(null), plain),
      Object.assign(() => {}, { nickname: 'a function' }),
      { name: () => 'a method', nickname: 'T', age: 'none' },
      7,
      null,
      {},
    ];
    const actual = await compiled({ ...args, rootValue: { cats: createCats() } });
    const expected = await stock({ ...args, rootValue: { cats: createCats() } });
    expect(formatResult(actual)).toEqual(formatResult(expected));
  }
});

it('promises that nothing waits for any more cause no unhandled rejections', async () => {
  const reject = () => new Promise<never>((_, refuse) => setImmediate(() => refuse(new Error('Too late.'))));
  const schema = createSchema({
    typeDefs: 'type Query { list: [Int!] items: [Item] } type Item { fails: Int! }',
    resolvers: {
      Query: {
        list: () => [reject(), null, reject()],
        items: () => [{}, new Promise((resolve) => setTimeout(resolve, 0, {}))],
      },
      Item: { fails: reject },
    },
  });
  unhandled.clear();
  const { data, errors } = await compiled(prepare(schema, '{ list items { fails } }'));
  expect(data).toEqual({ list: null, items: [null, null] });
  expect(errors?.map(({ path }) => String(path))).toEqual(['list,1', 'items,0,fails', 'items,1,fails']);
  await new Promise((resolve) => setImmediate(resolve));
  expect(unhandled.reasons).toEqual([]);
});

it('an error below an object that is null already is not reported, also after the answer', async () => {
  const fails = (name: string, turns: number): Promise<never> =>
    turns > 0
      ? new Promise((resolve) => setImmediate(resolve)).then(() => fails(name, turns - 1))
      : Promise.reject(new Error(name));
  const schema = createSchema({
    typeDefs: 'type Query { item: Item } type Item { first: Int required: Int! last: Int item: Item }',
    resolvers: {
      Query: { item: () => ({}) },
      Item: {
        first: () => fails('first', 0),
        required: () => fails('required', 2),
        last: () => fails('last', 4),
        item: () => new Promise((resolve) => setImmediate(resolve, { required: 1 })),
      },
    },
  });
  for (const execute of [compiled, stock]) {
    unhandled.clear();
    const { data, errors } = await execute(prepare(schema, '{ item { first required last item { last } } }'));
    for (let turn = 0; turn < 8; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(data).toEqual({ item: null });
    expect(errors?.map(({ path }) => String(path))).toEqual(['item,first', 'item,required']);
    expect(unhandled.reasons).toEqual([]);
  }
});

/* The following tests use the schema of Postroom and a database. */

const schema = loadSchema();
let database: Database;
let viewer: Viewer;
const ids: string[] = ['us0nobody', 'nothing'];

beforeAll(async () => {
  database = await openDatabase('sqlite::memory:');
  await database.transaction(fill);
});

async function fill(db: Db): Promise<void> {
  for (const name of ['Ada', 'Grace', 'Edsger']) {
    const user = await insertUser(db, { name, email: `${name}@example.org` });
    viewer ??= { user: toPublicUser(user), expiresAt: Number.MAX_SAFE_INTEGER } as Viewer;
    const room = await insertRoom(db, createRoomRow({ name: `room of ${name}`, ownerId: user.id }));
    await insertMember(db, { roomId: room.id, userId: viewer.user.id });
    ids.push(user.id, room.id);
    for (let count = 0; count < 4; count += 1) {
      const publishedAt = count === 0 ? null : count;
      const text = { title: `post ${count}`, body: count === 1 ? null : 'text' };
      const post = createPostRow({ roomId: room.id, authorId: user.id, ...text, publishedAt, createdAt: count });
      await insertPost(db, post);
      ids.push(post.id);
    }
  }
}

afterAll(() => database.close());

function sample(type: GraphQLNamedInputType, name: string, choices: Choices): unknown {
  if (type.name === 'ID') return choices.oneOf(ids);
  if (type.name === 'DateTime') return choices.oneOf(['2026-11-20T08:30:00.000Z', '1970-01-01T00:00:00.002Z']);
  if (name === 'name' && choices.chance(50)) return choices.oneOf(['Ada', 'a', 'room of Ada']);
  if (type.name === 'Int') return choices.oneOf([1, 2, 3, 10, 0]);
  return undefined;
}

async function executeOn(execute: Execute, request: GeneratedRequest, who: Viewer | null, errorPropagation = true) {
  const { query, variables, operationName } = request;
  const args = validateExecutionArgs({ schema, document: parse(query), variableValues: variables, operationName });
  if (!('schema' in args)) throw new Error(`${query}: ${args}`);
  const services = { database } as unknown as Services;
  return execute({ ...args, errorPropagation, contextValue: new Context(services, who) });
}

it('queries on a real database give the same answers as graphql-js, with every error at the same path', async () => {
  const property = fc.asyncProperty(requests(schema, { sample }), fc.boolean(), async (request, isSignedIn) => {
    const who = isSignedIn ? viewer : null;
    const [expected, actual] = [await executeOn(stock, request, who), await executeOn(compiled, request, who)];
    // If two reads fail, the database determines which error is first. Without error propagation, both are reported.
    const all = [expected, await executeOn(stock, request, who, false)];
    if (!differOnlyInRace(expected, actual, all)) expect(formatResult(actual)).toEqual(formatResult(expected));
  });
  await fc.assert(property, { numRuns: 500 });
}, 60_000);

it('mutations that are refused give the same answers as graphql-js', async () => {
  const kinds = [OperationTypeNode.MUTATION] as const;
  const admits = ({ name }: { name: string }) => !name.startsWith('sign');
  const property = fc.asyncProperty(requests(schema, { kinds, sample, admits }), async (request) => {
    const [expected, actual] = [await executeOn(stock, request, null), await executeOn(compiled, request, null)];
    expect(formatResult(actual)).toEqual(formatResult(expected));
  });
  await fc.assert(property, { numRuns: 200 });
}, 60_000);
