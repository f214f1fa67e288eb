import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildSchema } from 'graphql';
import { describe, expect, it } from 'vitest';
import { checkEvolution } from '../../scripts/check/evolution.ts';
import { collectDocuments } from '../../scripts/release/collect-documents.ts';
import { inRepository, runNode } from '../../scripts/repository.ts';
import { scratchFolder } from '../support/server/postroom.ts';

const released = `
schema { query: Query  mutation: Mutation }
directive @cost(weight: Int, unit: Int) on FIELD_DEFINITION
directive @internal on OBJECT
directive @slowly(by: Int, for: Int = 1) on FIELD
type Query {
  post(id: ID!, draft: Boolean, old: Boolean @deprecated(reason: "No use.")): Post @cost(weight: 1)
  posts(order: Order = ASC, filter: Filter): [Post!]
  legacy: Legacy @deprecated(reason: "Use post.")
  event: Event
  found: Found
}
type Mutation { createPost(title: String!): Post  erase: Boolean @deprecated(reason: "No use.") }
interface Node { id: ID! }
type Post implements Node { id: ID!  title: String!  body: String  heading: String @deprecated(reason: "Use title.") }
type Legacy { part: Part }
type Part { kind: Kind }
enum Kind { A B }
enum Order { ASC DESC RANDOM @deprecated(reason: "Use ASC.") }
input Filter { title: String  name: String = "a"  text: String @deprecated(reason: "Use title.") }
interface Event { at: Int }
type Created implements Event { at: Int }
type Moved implements Event { at: Int }
union Found = Post | Created
`;

type Change = [rule: string, before: string, after: string];

const harmless: Change[] = [
  ['a field is added', 'title: String!  body', 'title: String!  lead: String  body'],
  ['a description changes', 'type Legacy', '"Old." type Legacy'],
  ['a field can no longer be null', 'body: String', 'body: String!'],
  ['an argument is no longer required', 'post(id: ID!', 'post(id: ID'],
  ['an element is deprecated', 'body: String', 'body: String @deprecated(reason: "No use.")'],
  ['a deprecated field is removed', 'heading: String @deprecated(reason: "Use title.")', ''],
  ['a deprecated argument is removed', ', old: Boolean @deprecated(reason: "No use.")', ''],
  ['a deprecated input field is removed', 'text: String @deprecated(reason: "Use title.")', ''],
  ['a deprecated enum value is removed', 'RANDOM @deprecated(reason: "Use ASC.")', ''],
  ['a deprecated mutation is removed', 'erase: Boolean @deprecated(reason: "No use.")', ''],
  ['a directive that only the schema uses is removed', 'directive @internal on OBJECT', ''],
  ['an argument of such a directive is removed', ', unit: Int', ''],
];

const oneOf = 'input Filter @oneOf { title: String  name: String';

const breaking: Change[] = [
  ['Field Post.body was removed.', 'body: String', ''],
  ['Argument Query.post(draft:) was removed.', 'draft: Boolean, ', ''],
  ['Field Filter.title was removed.', 'input Filter { title: String', 'input Filter {'],
  ['Enum value Order.DESC was removed.', 'DESC', ''],
  ['Moved was removed.', 'type Moved implements Event { at: Int }', ''],
  ['Field Post.body changed type from String to Int.', 'body: String', 'body: Int'],
  ['Field Post.title changed type from String! to String.', 'title: String!  body', 'title: String  body'],
  ['Field Post.heading changed type from String to Int.', 'heading: String', 'heading: Int'],
  ['Argument Query.post(draft:) has changed type from Boolean to Boolean!.', 'draft: Boolean', 'draft: Boolean!'],
  ['A required argument Query.event(id:) was added.', 'event: Event', 'event(id: ID!): Event'],
  ['A required field Filter.room was added.', 'input Filter {', 'input Filter { room: ID!'],
  ['Filter accepts exactly one of its fields.', 'input Filter { title: String  name: String = "a"', oneOf],
  ['Part changed from an Object type to an Enum type.', 'type Part { kind: Kind }', 'enum Part { A }'],
  ['Post no longer implements interface Node.', 'Post implements Node', 'Post'],
  ['Created was removed from union type Found.', 'Post | Created', 'Post'],
  ['Mutation is no longer the type of a mutation.', '  mutation: Mutation', ''],
  ['Directive @slowly was removed.', 'directive @slowly(by: Int, for: Int = 1) on FIELD', ''],
  ['FIELD was removed from @slowly.', 'on FIELD\n', 'on FRAGMENT_SPREAD\n'],
];

/** The first part is the coordinate that the changelog must name. */
const dangerous: Change[] = [
  ['Published', 'union', 'type Published implements Event { at: Int }\nunion'],
  ['Legacy', 'Found = Post', 'Found = Legacy | Post'],
  ['Legacy', 'type Legacy {', 'type Legacy implements Event { at: Int'],
  ['Order.NEWEST', 'ASC DESC', 'ASC DESC NEWEST'],
  ['Query.posts(first:)', 'posts(', 'posts(first: Int, '],
  ['Filter.room', 'input Filter {', 'input Filter { room: ID'],
  ['Query.posts(order:)', 'Order = ASC', 'Order = DESC'],
  ['Filter.name', 'name: String = "a"', 'name: String'],
  ['@slowly(for:)', 'for: Int = 1', 'for: Int = 2'],
];

describe('a change is accepted:', () => {
  it.each(harmless)('%s', async (_, before, after) => {
    expect(await checkEvolution(folderOf(change(before, after)))).toEqual([]);
  });

  it('the types that only a deprecated field used are removed with it', async () => {
    const current = change('legacy: Legacy @deprecated(reason: "Use post.")', '')
      .replace('type Legacy { part: Part }', '')
      .replace('type Part { kind: Kind }', '')
      .replace('enum Kind { A B }', '');
    expect(await checkEvolution(folderOf(current))).toEqual([]);
  });
});

describe('a change that breaks clients is refused:', () => {
  it.each(breaking)('%s', async (description, before, after) => {
    const problems = await checkEvolution(folderOf(change(before, after)));
    expect(problems).toContain(
      `schema.graphql: ${description} This breaks clients: only what the last release deprecates may be removed.`,
    );
  });

  it('a type is removed that a field uses which is not deprecated', async () => {
    const problems = await checkEvolution(folderOf(change('enum Kind { A B }', '').replace('kind: Kind', 'kind: Int')));
    expect(problems).toHaveLength(2);
    expect(problems[0]).toContain('Kind was removed.');
    expect(problems[1]).toContain('Field Part.kind changed type from Kind to Int.');
  });
});

describe('a dangerous change must be named in the changelog, under "Unreleased":', () => {
  it.each(dangerous)('%s', async (coordinate, before, after) => {
    const folder = folderOf(change(before, after));
    const problems = await checkEvolution(folder);
    expect(problems).toEqual([expect.stringMatching(/^CHANGELOG\.md: "Unreleased" must name /)]);
    expect(problems[0]).toContain(`\`${coordinate}\``);

    write(folder, { 'CHANGELOG.md': `## [Unreleased]\n\n## [1.0.0]\n\n- \`${coordinate}\`\n` });
    expect(await checkEvolution(folder)).toEqual(problems);
    write(folder, { 'CHANGELOG.md': `## [Unreleased]\n\n- \`${coordinate}\`\n\n## [1.0.0]\n` });
    expect(await checkEvolution(folder)).toEqual([]);
  });
});

it('the documents of the repository are valid without extensions, so that they can be released', async () => {
  const schema = buildSchema(readFileSync(inRepository('schema.graphql'), 'utf8'));
  const files = Object.keys(await collectDocuments(inRepository(), schema));
  expect(files).toContain('examples/chat/src/operations.ts');
});

it('the documents of the last release must be valid, also if what they use was deprecated', async () => {
  const folder = folderOf(change('heading: String @deprecated(reason: "Use title.")', ''));
  write(folder, { 'documents.released.json': JSON.stringify({ 'docs/a.md': ['{ post(id: 1) { heading } }'] }) });
  expect(await checkEvolution(folder)).toEqual([
    'schema.graphql: a released document of docs/a.md is no longer valid: Cannot query field "heading" on type "Post".',
  ]);
});

it('the command prints the problems, and its exit status is 1 if there are any', async () => {
  const run = (current: string) => runNode([inRepository('scripts/check/evolution.ts'), folderOf(current)]);
  expect(await run(released)).toEqual({ status: 0, stdout: '', stderr: '' });
  expect(await run(change('body: String', ''))).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^schema\.graphql: Field Post\.body was removed\. .*\n$/),
  });
});

describe('npm run release', () => {
  it('writes the schema and the documents of docs, clients and examples, once for each version', async () => {
    const folder = folderOf(released);
    write(folder, {
      'package.json': '{ "version": "1.1.0" }',
      'docs/a.md': '```graphql\n{ event { at } }\n```\n\n```sh\ncurl -d \'{"query":"{ post(id: 1) { id } }"}\'\n```\n',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: this is the code of a client.
      'clients/a/app.tsx': 'const a = gql`query A { post(id: 1) { ...Part } } ${part}`; const page = <p>{a}</p>;',
      'clients/a/part.ts': 'export const part = gql`fragment Part on Post { title }`;',
      'clients/b/relay.js': 'graphql`query B { post(id: 1) @connection(key: "b") { id } }`;',
      'clients/b/persisted.json': '{ "1": "query B { post(id: 1) { id __typename } }" }',
      'clients/c/client.py': 'query = """\nquery C {\n  event { at }\n}\n"""\n',
      'examples/d/d.graphql': 'mutation D { createPost(title: "d") { id } }',
      'examples/d/node_modules/e/e.graphql': '{ none }',
      'examples/d/d.test.ts': 'refuse(`query { none }`);',
    });
    expect(await checkEvolution(folder)).toEqual([
      'schema.released.graphql is not that of version 1.1.0 of package.json: run npm run release',
    ]);
    expect(await release(folder)).toMatchObject({ status: 0, stdout: expect.stringContaining('6 documents') });
    expect(await checkEvolution(folder)).toEqual([]);
    expect(await release(folder)).toMatchObject({ status: 1, stderr: expect.stringContaining('1.1.0 already') });

    write(folder, { 'schema.graphql': released.replace('at: Int }\ntype', 'time: Int }\ntype') });
    const problems = await checkEvolution(folder);
    expect(problems.join('\n')).toMatch(
      /docs\/a\.md is no longer valid[\s\S]*clients\/c\/client\.py is no longer valid/,
    );
  });

  it('refuses a document that is not valid or uses a deprecated element, and writes nothing', async () => {
    for (const query of ['{ post(id: 1) { none } }', '{ post(id: 1) { heading } }', 'query A { post(id: 1) ']) {
      const folder = folderOf(released);
      write(folder, { 'package.json': '{ "version": "1.1.0" }', 'examples/a/a.graphql': query });
      expect(await release(folder)).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('examples/a/a.graphql: '),
      });
      expect(await checkEvolution(folder)).toHaveLength(1);
    }
  });
});

/** The released schema with one change. */
function change(before: string, after: string): string {
  const parts = released.split(before);
  if (parts.length < 2) throw new Error(`The schema does not contain ${before}`);
  const [first, ...others] = parts;
  return `${first}${after}${others.join(before)}`;
}

/** A folder with the released schema and the current one. */
function folderOf(current: string): string {
  const folder = scratchFolder();
  write(folder, {
    'package.json': '{ "version": "1.0.0" }',
    'schema.released.graphql': `# The schema of version 1.0.0. Written by \`npm run release\`; do not edit.\n${released}`,
    'schema.graphql': current,
    'documents.released.json': '{}',
    'CHANGELOG.md': '## [Unreleased]\n',
  });
  return folder;
}

function write(folder: string, files: Record<string, string>): void {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
}

function release(folder: string) {
  return runNode([inRepository('scripts/release.ts'), folder]);
}
