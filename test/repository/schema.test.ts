import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import {
  buildSchema,
  type GraphQLField,
  type GraphQLObjectType,
  getNamedType,
  isInterfaceType,
  isLeafType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inboxEventTypes, roomEventTypes } from '../../src/data/event-log/room-event-types.ts';
import { resolvers } from '../../src/resolvers/resolvers.ts';
import { main, programEnvironment, run } from '../support/server/postroom.ts';
import { shareServer, withDatabase } from '../support/server/shared-server.ts';

const root = new URL('../..', import.meta.url).pathname;
const sdl = readFileSync(join(root, 'schema.graphql'), 'utf8');
const schema = buildSchema(sdl);
const tables = { User: 'users', Room: 'rooms', Post: 'posts' } as const;
const types = Object.keys(tables) as (keyof typeof tables)[];

describe('the server refuses to start where', () => {
  /** Types whose rows have fields, types with resolvers, and types with neither. */
  const changes: Record<string, [from: string, to: string, says: string]> = {
    'a field of a stored type has no resolver': [
      '  title: String!\n',
      '  title: String!\n  "Stars."\n  stars: Int!\n',
      'Post.stars',
    ],
    'a field of the root is answered by nothing': [
      'type Query {\n',
      'type Query {\n  "Who else."\n  others: Int\n',
      'Query.others',
    ],
    'a resolver answers no field': ['  owner: User\n', '  holder: User\n', 'Room.owner'],
  };

  /** The folder for a copy of the program, so that the test can change its schema. */
  const folder = mkdtempSync(join(tmpdir(), 'postroom-test-'));
  const program = join(folder, 'program');

  beforeAll(() => {
    mkdirSync(program);
    // A bundled program finds its files by their places in the repository.
    for (const name of readdirSync(dirname(main))) {
      const code = readFileSync(join(dirname(main), name), 'utf8');
      writeFileSync(join(program, name), code.replaceAll(pathToFileURL(root).href, `${pathToFileURL(folder).href}/`));
    }
    cpSync(join(root, 'package.json'), join(folder, 'package.json'));
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(Object.entries(changes))('%s', async (_, [from, to, says]) => {
    const changed = sdl.replace(from, to);
    expect(changed).not.toBe(sdl);
    writeFileSync(join(folder, 'schema.graphql'), changed);
    const settings = { PORT: '0', DATABASE_URL: 'sqlite::memory:', NODE_COMPILE_CACHE: join(folder, 'cache') };
    const { status, stdout, stderr } = await run(['serve'], settings, '', join(program, 'main.mjs'));
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain(says);
  });
});

describe('the stored fields of a type', () => {
  const server = shareServer();
  const stored: Record<string, string> = { ID: 'TEXT', String: 'TEXT', Int: 'INTEGER', DateTime: 'INTEGER' };

  it.each(types)('%s: each column has the type of its field, and is nullable if the field is', (name) => {
    const info = withDatabase(server.databaseFile, (database) =>
      database.prepare(`pragma table_info(${tables[name]})`).all(),
    );
    for (const field of leafFields(name).filter((each) => !Object.hasOwn(resolvers[name], each.name))) {
      const column = info.find((each) => each['name'] === field.name);
      // An enum value is stored as its name.
      expect(column, field.name).toMatchObject({ type: stored[getNamedType(field.type).name] ?? 'TEXT' });
      expect(column?.['notnull'] === 1 || column?.['pk'] === 1, field.name).toBe(isNonNullType(field.type));
    }
  });
});

describe('the list of event types', () => {
  it('is the same list in the schema and in the log, with the events that only inboxes receive', () => {
    const event = schema.getType('RoomEvent');
    const members = isInterfaceType(event) ? schema.getPossibleTypes(event).map(({ name }) => name) : [];
    expect([...members].sort()).toEqual([...Object.keys(roomEventTypes), ...inboxEventTypes].sort());
  });
});

describe('mutations', () => {
  it('take one input type of their own and return a payload type of their own, and the payload is null if they fail', () => {
    for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
      const name = `${field.name[0]?.toUpperCase()}${field.name.slice(1)}`;
      expect(String(field.type)).toBe(`${name}Payload`);
      const taken = field.args.map((argument) => `${argument.name}: ${argument.type}`);
      expect(taken).toEqual(field.name === 'renewSession' ? [] : [`input: ${name}Input!`]);
    }
  });
});

it('`postroom schema` prints the schema', async () => {
  expect(await run(['schema'])).toEqual({ status: 0, stdout: sdl, stderr: '' });
});

it.each([
  ['--yaml'],
  ['--json', '--possible-types'],
])('`postroom schema` refuses other arguments and prints its usage: %s', async (...args) => {
  expect(await run(['schema', ...args])).toEqual({
    status: 1,
    stdout: '',
    stderr: `postroom: schema does not accept "${args.join(' ')}"\nusage: postroom schema [--json | --possible-types]\n`,
  });
});

it('`postroom schema --json` ends without an error if its reader closes the pipe', async () => {
  const child = spawn(process.execPath, [main, 'schema', '--json'], {
    env: programEnvironment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  await once(child.stdout, 'readable');
  child.stdout.destroy();
  expect(await text(child.stderr)).toBe('');
});

function leafFields(name: string): GraphQLField<unknown, unknown>[] {
  const type = schema.getType(name) as GraphQLObjectType;
  expect(isObjectType(type)).toBe(true);
  return Object.values(type.getFields()).filter((field) => isLeafType(getNamedType(field.type)));
}
