import { readFileSync } from 'node:fs';
import {
  buildSchema,
  type GraphQLInputType,
  isEnumType,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  typeFromAST,
} from 'graphql';
import { beforeAll, expect, it } from 'vitest';
import { inRepository } from '../../scripts/repository.ts';
import { graphqlResponse } from '../support/clients/http.ts';
import { grantAdmin, type Person, type Postroom, type Reply } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

const server = shareServer();
let admin: Person;

beforeAll(async () => {
  admin = await server.postroom.signUp('Ada');
  await grantAdmin({ DATABASE_URL: `sqlite:${server.databaseFile}` }, admin);
});

const schema = buildSchema(readFileSync(inRepository('schema.graphql'), 'utf8'));
/* Each operation of the last release runs: its document is valid, its variables fit, and no limit refuses it. */

const released: Record<string, string[]> = JSON.parse(readFileSync(inRepository('documents.released.json'), 'utf8'));

const operations = Object.entries(released).flatMap(([file, texts]) =>
  texts.flatMap((text) =>
    parse(text).definitions.flatMap((node) => (node.kind === Kind.OPERATION_DEFINITION ? { file, text, node } : [])),
  ),
);

/** The ids, names and cursors in the documents are examples. */
const outcomes = [undefined, 'NOT_FOUND', 'CONFLICT', 'CURSOR_INVALID'];

it.each(operations)('$file: $node.operation $node.name.value', async ({ text, node }) => {
  const samples = await createSamples(server.postroom, admin);
  const variables = (node.variableDefinitions ?? []).flatMap(({ variable: { name }, type, defaultValue }) => {
    const isRequired = type.kind === Kind.NON_NULL_TYPE && !defaultValue;
    const input = typeFromAST(schema, type);
    return isRequired && isInputType(input) ? [[name.value, sampleOf(input, name.value, samples)]] : [];
  });
  expect(outcomes).toContain(await run(text, node, Object.fromEntries(variables)));
});

/** The code of the first error; undefined if the operation succeeds, or if the stream of a subscription is open. */
async function run(query: string, { operation, name }: OperationDefinitionNode, variables: object) {
  const leaving = new AbortController();
  const response = await fetch(server.postroom.graphqlUrl, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: operation === OperationTypeNode.SUBSCRIPTION ? 'text/event-stream' : graphqlResponse,
      authorization: `Bearer ${admin.token}`,
    },
    body: JSON.stringify({ query, variables, operationName: name?.value }),
    signal: leaving.signal,
  });
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
  const code = isStream ? undefined : ((await response.json()) as Reply).errors?.[0]?.extensions.code;
  leaving.abort();
  return code;
}

/** Values by the name of a variable, or by the coordinate or the name of an input field. */
type Samples = Record<string, string>;

let count = 0;

async function createSamples(postroom: Postroom, person: Person): Promise<Samples> {
  count += 1;
  const room = await postroom.createRoom(person, `Room ${count}`);
  const id = await postroom.createPost(person, room, 'Hello');
  const texts = {
    name: `Name ${count}`,
    title: 'Title',
    key: `key ${count}`,
    email: `new${count}@example.org`,
    password: person.password,
  };
  return { room, id, post: id, user: person.id, ...texts, 'SignInInput.email': person.email };
}

/** A value of the type, with the required fields of inputs only. */
function sampleOf(type: GraphQLInputType, name: string, samples: Samples): unknown {
  if (isNonNullType(type)) return sampleOf(type.ofType, name, samples);
  if (isListType(type)) return [sampleOf(type.ofType, name, samples)];
  if (isEnumType(type)) return type.getValues()[0]?.name;
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields()).filter(isRequiredInputField);
    return Object.fromEntries(fields.map((field) => [field.name, sampleOf(field.type, `${field}`, samples)]));
  }
  const scalars: Record<string, unknown> = { Int: 1, Float: 1, Boolean: true, DateTime: '2100-01-01T00:00:00Z' };
  const own = samples[name] ?? samples[name.replace(/.*\./, '')];
  return scalars[type.name] ?? own ?? (type.name === 'ID' ? samples['id'] : 'text');
}
