import {
  type ArgumentNode,
  type FieldNode,
  type GraphQLArgument,
  type GraphQLField,
  getArgumentValues,
  getNullableType,
  isEnumType,
  isScalarType,
  isSpecifiedScalarType,
  Kind,
  type VariableValues,
} from 'graphql';

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
    return { kind: 'constant', values: getArgumentValues(field, node) };
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
  readonly #known = new Map<ArgumentsPlan, Arguments>();

  constructor(variables: VariableValues) {
    this.#variables = variables;
  }

  /** @throws GraphQLError where a variable does not fit the place. */
  read(plan: ArgumentsPlan, field: GraphQLField<unknown, unknown>, node: FieldNode): Arguments {
    switch (plan.kind) {
      case 'constant':
        return copy(plan.values);
      case 'variable': {
        const known = this.#known.get(plan) ?? getArgumentValues(field, node, this.#variables);
        this.#known.set(plan, known);
        return copy(known);
      }
      case 'fresh':
        return getArgumentValues(field, node, this.#variables);
    }
  }
}

function copy(values: Arguments): Arguments {
  const own: Arguments = Object.create(null);
  return values === none ? own : Object.assign(own, values);
}
