import {
  extendSchema,
  type GraphQLField,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isTypeSystemExtensionNode,
  Kind,
  parse,
  print,
  validateSchema,
} from 'graphql';
import { ownPrefixes } from '../../common/ids.ts';
import { version } from '../../common/version.ts';
import { listChangedTables } from '../../data/migrations/changed-tables.ts';
import { roomEventColumns } from '../../data/tables.ts';
import type { LoadedExtension } from '../../resolvers/extensions/extension.ts';
import { eventFields, fieldOf } from '../../resolvers/room-event.ts';
import { implementsInterface } from '../../resolvers/rules/interfaces.ts';

/** The fields that an extension adds to a type. */
interface AddedFields {
  type: GraphQLObjectType;
  fields: GraphQLField<unknown, unknown>[];
  /** Whether the type is that of another. */
  isExtended: boolean;
}

/** What is wrong with extensions, a sentence for each problem. `own`: the schema without them. */
export function findProblems(extensions: readonly LoadedExtension[], own: GraphQLSchema): string[] {
  const problems: string[] = [];
  let present = own;
  for (const [index, extension] of extensions.entries()) {
    const { schema, errors } = extend(present, extension.sdl);
    const added = listAddedFields(present, schema);
    const found = [
      ...errors.map((error) => `schema.graphql: ${error}`),
      ...findNameProblems(extension, extensions.slice(0, index)),
      ...findTableProblems(extension),
      ...findNodeProblems(extension, added, extensions.slice(0, index)),
      ...findEventProblems(extension, added, schema),
      ...findFieldProblems(extension, added, schema),
    ];
    problems.push(...found.map((text) => `extension ${extension.name}: ${text}`));
    present = schema;
  }
  return problems;
}

/** A schema that cannot be extended stays as it is. */
function extend(present: GraphQLSchema, sdl: string): { schema: GraphQLSchema; errors: string[] } {
  try {
    const document = parse(sdl);
    const schema = extendSchema(present, document);
    // Resolvers that are there do not know further values of an enum or an input.
    const refused = document.definitions
      .filter((node) => isTypeSystemExtensionNode(node) && node.kind !== Kind.OBJECT_TYPE_EXTENSION)
      .map((node) => `${print(node).split(' {')[0]}: only object types can be extended`);
    return { schema, errors: [...refused, ...validateSchema(schema).map(({ message }) => message)] };
  } catch (error) {
    return { schema: present, errors: error instanceof Error ? error.message.split('\n\n') : [String(error)] };
  }
}

function listAddedFields(before: GraphQLSchema, after: GraphQLSchema): AddedFields[] {
  return Object.values(after.getTypeMap())
    .filter(isObjectType)
    .flatMap((type) => {
      const earlier = before.getType(type.name);
      const known = isObjectType(earlier) ? earlier.getFields() : {};
      const fields = Object.values(type.getFields()).filter(({ name }) => !Object.hasOwn(known, name));
      return fields.length === 0 ? [] : [{ type, fields, isExtended: earlier !== undefined }];
    });
}

/** Whether a version is allowed by `^1.2` or `^1.2.3`: not older, with the same first number that is not 0. */
function fits(compatibility: string, present: string): boolean {
  const [found, ...parts] = /^\^(\d+)\.(\d+)(?:\.(\d+))?$/.exec(compatibility) ?? [];
  if (found === undefined) return false;
  const wanted = parts.map((part) => Number(part ?? 0));
  const actual = present.split(/[.-]/).map(Number);
  const differences = wanted.map((part, index) => (actual[index] ?? 0) - part);
  return (
    (differences.find(Boolean) ?? 0) >= 0 && differences.slice(0, wanted[0] === 0 ? 2 : 1).every((each) => each === 0)
  );
}

function findNameProblems({ name, compatibility }: LoadedExtension, others: readonly LoadedExtension[]): string[] {
  const isTaken = name === 'postroom' || others.some((other) => other.name === name);
  return [
    ...problemIf(!/^[a-z][a-z0-9]{1,19}$/.test(name), 'its name must be 2 to 20 small letters and digits'),
    ...problemIf(isTaken, 'its name is taken'),
    ...problemIf(
      !fits(compatibility, version),
      `it works with Postroom ${compatibility} (such as ^0.1), and this is ${version}`,
    ),
  ];
}

function findTableProblems({ name, tables = {}, migrations = [] }: LoadedExtension): string[] {
  const changed = migrations.flatMap(listChangedTables);
  const declared = Object.keys(tables);
  const names = new Set(migrations.map((migration) => migration.name));
  const foreign = new Set([...declared, ...changed].filter((table) => !table.startsWith(`${name}_`)));
  return [
    ...[...foreign].map((table) => `the name of the table ${table} must begin with ${name}_`),
    ...declared.filter((table) => !changed.includes(table)).map((table) => `no migration creates the table ${table}`),
    ...problemIf(names.size < migrations.length, 'two of its migrations have the same name'),
  ];
}

function findNodeProblems(
  { nodes = {}, tables = {}, resolvers = {} }: LoadedExtension,
  added: readonly AddedFields[],
  others: readonly LoadedExtension[],
): string[] {
  const declared = [{ nodes }, ...others].flatMap((each) => Object.values(each.nodes ?? {}));
  const prefixes = [...ownPrefixes, ...declared.map(({ prefix }) => prefix)];
  const own = listImplementing(added, 'Node');
  return [
    ...own.filter(({ name }) => !nodes[name]).map(({ name }) => `${name} implements Node, and is not in nodes`),
    ...Object.entries(nodes).flatMap(([name, { prefix, table, columns }]) => {
      const fields = Object.keys(own.find((type) => type.name === name)?.getFields() ?? {});
      const answered = [...columns, 'room', ...Object.keys(resolvers[name] ?? {})];
      return [
        ...problemIf(fields.length === 0, `${name} is in nodes, and the schema has no type ${name} implements Node`),
        ...problemIf(!/^[a-z]{1,8}$/.test(prefix), `the prefix of ${name} must be 1 to 8 small letters`),
        ...problemIf(prefixes.filter((each) => each === prefix).length > 1, `the prefix ${prefix} of ${name} is taken`),
        ...problemIf(!tables[table], `the table ${table} of ${name} is not in tables`),
        ...fields
          .filter((field) => !answered.includes(field))
          .map((field) => `${name}.${field} has no resolver, and is no column of ${name}`),
      ];
    }),
  ];
}

function findEventProblems(
  { events = {}, resolvers = {} }: LoadedExtension,
  added: readonly AddedFields[],
  schema: GraphQLSchema,
) {
  const own = listImplementing(added, 'RoomEvent');
  return [
    ...own.filter(({ name }) => !events[name]).map(({ name }) => `${name} implements RoomEvent, and is not in events`),
    ...Object.entries(events).flatMap(([name, { subject }]) => {
      const type = own.find((each) => each.name === name);
      if (!type) return [`${name} is in events, and the schema has no type ${name} implements RoomEvent`];
      const isNode = implementsInterface(schema.getType(subject), 'Node');
      const field = type.getFields()[fieldOf(subject)];
      const answered = [...Object.keys({ ...eventFields, ...resolvers[name] }), ...roomEventColumns, fieldOf(subject)];
      const missing = Object.keys(type.getFields()).filter((each) => !answered.includes(each));
      return [
        ...problemIf(!isNode, `the subject ${subject} of ${name} is no node`),
        ...problemIf(
          isNonNullType(field?.type),
          `${name}.${fieldOf(subject)} must be nullable, because an event outlives its subject`,
        ),
        ...missing.map((each) => `${name}.${each} has no resolver`),
      ];
    }),
  ];
}

function findFieldProblems({ resolvers = {} }: LoadedExtension, added: readonly AddedFields[], schema: GraphQLSchema) {
  const roomEvent = schema.getType('RoomEvent') as GraphQLInterfaceType;
  const events = [roomEvent, ...schema.getPossibleTypes(roomEvent)].map(({ name }) => name);
  const own = added.flatMap(({ type, fields }) => fields.map(({ name }) => `${type}.${name}`));
  const strange = Object.entries(resolvers)
    .filter(([type]) => !isLeafType(schema.getType(type)))
    .flatMap(([type, fields]) => Object.keys(fields).map((name) => `${type}.${name}`))
    .filter((field) => !own.includes(field) && !field.includes('.__'));
  const problems = added.flatMap(({ type, fields, isExtended }) =>
    fields.flatMap(({ name, type: fieldType, args, astNode }) => {
      const field = `${type}.${name}`;
      const resolver = resolvers[type.name]?.[name];
      const isSubscription = type.name === 'Subscription';
      const isSized = astNode?.directives?.some((directive) => directive.name.value === 'listSize');
      // Those of a connection are sized where the connection is selected.
      const isLong = isListType(getNullableType(fieldType)) || getNamedType(fieldType).name.endsWith('Connection');
      const isList = isLong && !type.name.endsWith('Connection');
      const fedBy = resolver && 'fedBy' in resolver ? resolver.fedBy : [];
      const given = args.map((argument) => `${argument.name}: ${argument.type}`);
      const resumes = ['room: ID!', 'after: String'].every((wanted) => given.includes(wanted));
      return [
        ...problemIf(isList && !isSized, `${field} is a list without @listSize`),
        ...problemIf(isExtended && !isSubscription && !resolver, `${field} has no resolver`),
        ...problemIf(isSubscription && fedBy.length === 0, `${field} is fed by nothing: use fromRoomEvents`),
        ...fedBy.flatMap((each) => problemIf(!events.includes(each), `${field} is fed by ${each}, which is no event`)),
        ...problemIf(isSubscription && !resumes, `${field} must have the arguments room: ID! and after: String`),
      ];
    }),
  );
  return [...problems, ...strange.map((field) => `${field} has a resolver, and is no field of the extension`)];
}

function listImplementing(added: readonly AddedFields[], name: string): GraphQLObjectType[] {
  return added.filter(({ type, isExtended }) => !isExtended && implementsInterface(type, name)).map(({ type }) => type);
}

function problemIf(isWrong: boolean, text: string): string[] {
  return isWrong ? [text] : [];
}
