import { readFileSync } from 'node:fs';
import { buildClientSchema, getIntrospectionQuery, type IntrospectionQuery } from 'graphql';
import { expect, it } from 'vitest';
import { run } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

const server = shareServer();

const textOf = (version: number) =>
  readFileSync(new URL(`../support/introspection/graphql-${version}.graphql`, import.meta.url), 'utf8');

const withAllOptions = getIntrospectionQuery({
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  schemaDescription: true,
  inputValueDeprecation: true,
  experimentalDirectiveDeprecation: true,
  oneOf: true,
});

/** The queries that clients send, which are those of graphql-js or copies of them. */
const queries: Record<string, string> = {
  'graphql 15': textOf(15),
  'graphql 16': textOf(16),
  'graphql 17': getIntrospectionQuery(),
  'graphql 17, with all options': withAllOptions,
};

/** https://spec.graphql.org/October2021/#DirectiveLocation */
const locationsOf2021 = [
  'QUERY MUTATION SUBSCRIPTION FIELD FRAGMENT_DEFINITION FRAGMENT_SPREAD INLINE_FRAGMENT VARIABLE_DEFINITION',
  'SCHEMA SCALAR OBJECT FIELD_DEFINITION ARGUMENT_DEFINITION INTERFACE UNION ENUM ENUM_VALUE INPUT_OBJECT',
  'INPUT_FIELD_DEFINITION',
].flatMap((names) => names.split(' '));

/** An element of an introspection result. */
interface Described {
  name: string;
  description?: string | null;
  fields?: Described[] | null;
  inputFields?: Described[] | null;
  enumValues?: Described[] | null;
  args?: Described[] | null;
}

async function introspect(query: string): Promise<IntrospectionQuery> {
  return (await server.postroom.send(query)).data;
}

it.each(Object.entries(queries))('the introspection query of %s is within the default limits', async (_, query) => {
  const { status, data } = await server.postroom.send(query);
  expect(status).toBe(200);
  const names = data.__schema.types.map(({ name }: Described) => name);
  expect(Object.keys(buildClientSchema(data).getTypeMap())).toEqual(expect.arrayContaining(names));
});

it.each(Object.entries(queries))('directives have only the locations of October 2021, for %s', async (_, query) => {
  const { directives } = (await introspect(query)).__schema;
  expect(directives.map(({ name }) => name)).toEqual(expect.arrayContaining(['deprecated', 'specifiedBy', 'cost']));
  const locations = new Set(directives.flatMap((directive) => directive.locations));
  expect([...locations].filter((location) => !locationsOf2021.includes(location))).toEqual([]);
});

it.each(
  Object.entries(queries),
)('every type, field, argument and value has a description, for %s', async (_, query) => {
  const { types, directives } = (await introspect(query)).__schema;
  // graphql-js describes only some fields of its own introspection types.
  const ours = types.filter(({ name }) => !name.startsWith('__'));
  expect([...ours, ...directives].flatMap((element) => findUndescribed(element as Described))).toEqual([]);
});

it('a scalar names its specification', async () => {
  const { types } = (await introspect(textOf(16))).__schema;
  expect(types.find(({ name }) => name === 'DateTime')).toMatchObject({
    description: expect.stringContaining('ISO 8601'),
    specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time.html',
  });
});

it('`postroom schema --json` prints the answer of the server to introspection with all options', async () => {
  const { status, stdout, stderr } = await run(['schema', '--json']);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(JSON.parse(stdout)).toEqual(await introspect(withAllOptions));
});

it('`postroom schema --possible-types` prints the object types of each interface, for the cache of Apollo Client', async () => {
  const { status, stdout, stderr } = await run(['schema', '--possible-types']);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const { types } = (await introspect(textOf(16))).__schema;
  const abstract = types.filter((type) => type.kind === 'INTERFACE' || type.kind === 'UNION');
  const namesOf = (members: readonly { name: string }[]) => members.map(({ name }) => name);
  expect(JSON.parse(stdout)).toEqual(
    Object.fromEntries(abstract.map(({ name, possibleTypes }) => [name, namesOf(possibleTypes)])),
  );
});

/** The paths of the elements without a description, from the given element down. */
function findUndescribed(element: Described, parent = ''): string[] {
  const { name, description, fields, inputFields, enumValues, args } = element;
  const path = `${parent}${name}`;
  const parts = [fields, inputFields, enumValues, args].flatMap((list) => list ?? []);
  return [...(description?.trim() ? [] : [path]), ...parts.flatMap((part) => findUndescribed(part, `${path}.`))];
}
