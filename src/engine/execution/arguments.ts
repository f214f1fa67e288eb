import {
  type ArgumentNode,
  type FieldNode,
  type GraphQLArgument,
  GraphQLError,
  type GraphQLField,
  getArgumentValues,
  getNullableType,
  isEnumType,
  isScalarType,
  isSpecifiedScalarType,
  Kind,
  type VariableValues,
} from 'graphql';
import { requestError } from '../answer.ts';

export type Arguments = Record<string, unknown>;

/**
 * A field's arguments. graphql coerces them anew for each call, and hands out an object that is the resolver's own; what
 * it would make of parts that are the same each time (a variable's value, a number) is made once and copied.
 */
export type ArgumentsPlan =
  | { kind: 'constant'; values: Arguments }
  /** The same for one set of variables. */
  | { kind: 'variable' }
  | { kind: 'fresh' };

const none: Arguments = {};

export function planArguments(field: GraphQLField<unknown, unknown>, node: FieldNode): ArgumentsPlan {
  const given = node.arguments ?? [];
  if (field.args.length === 0) return { kind: 'constant', values: none };
  if (!given.every((argument) => isShareable(field.args, argument))) return { kind: 'fresh' };
  if (given.some(({ value }) => value.kind === Kind.VARIABLE)) return { kind: 'variable' };
  try {
    // In an object of the common kind, which is copied at once.
    return { kind: 'constant', values: { ...getArgumentValues(field, node) } };
  } catch {
    // It fails where it is asked for, and as that field's error.
    return { kind: 'fresh' };
  }
}

function isShareable(definitions: readonly GraphQLArgument[], { name, value }: ArgumentNode): boolean {
  if (value.kind === Kind.VARIABLE) return true;
  const definition = definitions.find((argument) => argument.name === name.value);
  const type = definition && getNullableType(definition.type);
  return isEnumType(type) || (isScalarType(type) && isSpecifiedScalarType(type));
}

/** The arguments of one execution's fields. */
export class ArgumentReader {
  readonly #variables: VariableValues;
  #known: Map<ArgumentsPlan, Arguments> | undefined;

  constructor(variables: VariableValues) {
    this.#variables = variables;
  }

  /** @throws GraphQLError VARIABLES_INVALID where a variable does not fit the place. */
  read(plan: ArgumentsPlan, field: GraphQLField<unknown, unknown>, node: FieldNode): Arguments {
    switch (plan.kind) {
      case 'constant':
        return { ...plan.values };
      case 'variable': {
        this.#known ??= new Map();
        const known = this.#known.get(plan) ?? this.#coerce(field, node);
        this.#known.set(plan, known);
        return { ...known };
      }
      case 'fresh':
        return this.#coerce(field, node);
    }
  }

  #coerce(field: GraphQLField<unknown, unknown>, node: FieldNode): Arguments {
    return orVariablesInvalid(() => ({ ...getArgumentValues(field, node, this.#variables) }));
  }
}

/**
 * A variable may be null where its place has none of it: it has a default, and was given as null all the same. graphql
 * finds that out while it runs, as an error of the field; it is the client's.
 */
export function orVariablesInvalid<T>(coerce: () => T): T {
  try {
    return coerce();
  } catch (error) {
    throw error instanceof GraphQLError ? requestError('VARIABLES_INVALID', undefined, error) : error;
  }
}
