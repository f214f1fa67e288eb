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
 * How a field's arguments are coerced. graphql coerces them for each call, and each resolver receives its own object.
 * Here values that are the same for each call (a variable's value, a number) are coerced once and copied.
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
    // The spread creates an object with a normal prototype, which V8 copies fast.
    return { kind: 'constant', values: { ...getArgumentValues(field, node) } };
  } catch {
    // The coercion fails again during the execution, as an error of the field.
    return { kind: 'fresh' };
  }
}

function isShareable(definitions: readonly GraphQLArgument[], { name, value }: ArgumentNode): boolean {
  if (value.kind === Kind.VARIABLE) return true;
  const definition = definitions.find((argument) => argument.name === name.value);
  const type = definition && getNullableType(definition.type);
  return isEnumType(type) || (isScalarType(type) && isSpecifiedScalarType(type));
}

/** Coerces the arguments of the fields of one execution. */
export class ArgumentReader {
  readonly #variables: VariableValues;
  #known: Map<ArgumentsPlan, Arguments> | undefined;

  constructor(variables: VariableValues) {
    this.#variables = variables;
  }

  /** @throws GraphQLError VARIABLES_INVALID if a variable's value is not allowed for the argument. */
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
 * A nullable variable with a default may be used where null is not allowed, and may still be given as null. graphql
 * detects this during the execution, as an error of the field. It is an error of the client.
 */
export function orVariablesInvalid<T>(coerce: () => T): T {
  try {
    return coerce();
  } catch (error) {
    throw error instanceof GraphQLError ? requestError('VARIABLES_INVALID', undefined, error) : error;
  }
}
