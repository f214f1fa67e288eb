import { hash } from 'node:crypto';
import {
  type FieldNode,
  type GraphQLDirective,
  GraphQLError,
  type GraphQLFieldResolver,
  type GraphQLResolveInfo,
  getDirectiveValues,
  getNamedType,
  getNullableType,
  isObjectType,
  type VariableValues,
} from 'graphql';
import type { ChangeRecord } from '../../changes/commit-change.ts';
import { TracelessError } from '../../common/stack-traces.ts';
import type { Db } from '../../data/database/database.ts';
import { deleteOldestKeys, type IdempotencyClaim, insertIdempotencyKey } from '../../data/domain/idempotency-keys.ts';
import { ClientError } from '../../errors.ts';
import type { MutationResolvers } from '../../generated/resolver-types.generated.ts';
import type { Context } from '../context.ts';
import { assertInput, problemIf, required } from './input-check.ts';
import { implementsInterface } from './interfaces.ts';
import { idempotencyKey } from './validation.ts';
import { findVisibleNode } from './visible-rows.ts';

/** A mutation whose payload has one object. */
interface IdempotentMutation {
  /** The field of the payload with the object. */
  payloadField: string;
  /** The type of the object. */
  type: string;
}

/** The mutations that accept `@idempotent`. `createApiKey` does not, because its answer cannot be given twice. */
export const idempotentMutations: readonly (keyof MutationResolvers)[] = [
  'createPost',
  'updatePost',
  'replacePost',
  'publishPost',
  'createRoom',
  'updateRoom',
  'replaceRoom',
  'joinRoom',
  'leaveRoom',
  'updateUser',
  'replaceUser',
];

/** The mutation ran before with this key. Thrown inside the transaction, which then changes nothing. */
class Repeated extends TracelessError {
  readonly resultId: string;

  constructor(resultId: string) {
    super('The mutation ran before with this idempotency key.');
    this.resultId = resultId;
  }
}

type MutationResolver = GraphQLFieldResolver<unknown, Context>;
type Input = Record<string, unknown>;

/** Adds to the resolvers that a repeated mutation, with the same key, returns the result of the first. */
export function withIdempotency(mutations: MutationResolvers): MutationResolvers {
  const wrapped = idempotentMutations.map((name) => [name, runOnce(mutations[name] as MutationResolver)]);
  return { ...mutations, ...Object.fromEntries(wrapped) };
}

/** A field of `Mutation` that accepts `@idempotent`. Its `extensions` are those of the field in the schema. */
export function runOnce(resolveField: MutationResolver) {
  const resolve: MutationResolver = async (source, args, context, info) => {
    const key = readKey(info);
    if (key === undefined) return resolveField(source, args, context, info);
    const mutation = describe(info);
    // The mutations of extensions may have other arguments.
    const { input, ...others } = args;
    context.idempotency = createClaim(key, info.fieldName, { ...others, ...input }, mutation, context);
    try {
      return await resolveField(source, args, context, info);
    } catch (error) {
      if (error instanceof Repeated) return findResultOrThrow(error.resultId, mutation, context);
      throw error;
    } finally {
      context.idempotency = undefined;
    }
  };
  return { resolve, extensions: { isIdempotent: true } };
}

/** Finds the object in the payload: its only field whose type implements `Node`. */
function describe({ fieldName, returnType }: GraphQLResolveInfo): IdempotentMutation {
  const payload = getNamedType(returnType);
  for (const { name, type } of isObjectType(payload) ? Object.values(payload.getFields()) : []) {
    const object = getNullableType(type);
    if (implementsInterface(object, 'Node')) return { payloadField: name, type: object.name };
  }
  throw new ClientError('VALIDATION_ERROR', `@idempotent has no effect on ${fieldName}: its payload has no object.`);
}

/** @throws ClientError VARIABLES_INVALID or VALIDATION_ERROR. */
function readKey({ fieldNodes, schema, variableValues }: GraphQLResolveInfo): string | undefined {
  const directive = schema.getDirective('idempotent') as GraphQLDirective;
  const nodes = fieldNodes.filter(({ directives }) => directives?.some(({ name }) => name.value === directive.name));
  if (nodes.length === 0) return undefined;
  const keys = new Set(nodes.map((node) => readArgument(directive, node, variableValues)));
  const [key] = keys;
  // Fields with different keys are merged into one field.
  assertInput(required('key', key, idempotencyKey), problemIf(keys.size > 1, 'key', 'invalid'));
  return key;
}

/** A nullable variable with a default may still be null. */
function readArgument(directive: GraphQLDirective, node: FieldNode, variables: VariableValues): string {
  try {
    return getDirectiveValues(directive, node, variables)?.['key'] as string;
  } catch (error) {
    throw error instanceof GraphQLError ? new ClientError('VARIABLES_INVALID', error.message) : error;
  }
}

function createClaim(
  key: string,
  field: string,
  input: Input,
  { payloadField, type }: IdempotentMutation,
  { services }: Context,
): IdempotencyClaim {
  // The input of a mutation that creates the object does not have its id. It may have that of another one.
  const given = input['id'] ?? input[payloadField];
  const { extensions } = services;
  const isResult = typeof given === 'string' && (extensions.ofId(given)?.type ?? type) === type;
  const resultId = isResult ? given : extensions.createId(type);
  return { key, hash: hash('sha256', `${field} ${toSortedJson(input)}`, 'hex'), resultId };
}

/** Literals and variables have their properties in different orders. */
function toSortedJson(value: unknown): string {
  const sort = (_: string, nested: unknown) =>
    typeof nested === 'object' && nested !== null && !Array.isArray(nested)
      ? Object.fromEntries(Object.entries(nested).sort(([one], [other]) => (one < other ? -1 : 1)))
      : nested;
  return JSON.stringify(value, sort);
}

/**
 * Stores the key with the change. A concurrent repeat waits for its end.
 * @throws Repeated, or ClientError IDEMPOTENCY_KEY_REUSED.
 */
export async function claimKey(
  db: Db,
  { write }: ChangeRecord,
  userId: string,
  claim: IdempotencyClaim,
): Promise<void> {
  const stored = await insertIdempotencyKey(db, { ...claim, userId, at: Date.now() });
  if (!stored) return void write(deleteOldestKeys(db, { userId, key: claim.key }));
  if (stored.hash !== claim.hash) throw new ClientError('IDEMPOTENCY_KEY_REUSED');
  throw new Repeated(stored.resultId);
}

/** The result as it is now. @throws ClientError NOT_FOUND if it was deleted, or is no longer visible to the viewer. */
async function findResultOrThrow(id: string, { payloadField }: IdempotentMutation, context: Context): Promise<object> {
  const found = await findVisibleNode(id, context);
  if (!found)
    throw new ClientError(
      'NOT_FOUND',
      `The mutation was done, but its ${payloadField} is no longer there for this viewer.`,
    );
  return { [payloadField]: found };
}
