import {
  defaultFieldResolver,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLAbstractType,
  type GraphQLDirective,
  type GraphQLField,
  type GraphQLFieldResolver,
  GraphQLIncludeDirective,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  GraphQLSkipDirective,
  getDirectiveValues,
  type InlineFragmentNode,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  Kind,
  type SelectionSetNode,
  typeFromAST,
} from 'graphql';
import type { AnswerSize } from '../limits/answer-size.ts';
import { type ArgumentsPlan, orVariablesInvalid, planArguments } from './arguments.ts';
import { compileReader, countSimple, type PartlyRead, type Reader } from './reader.ts';

/** How a value of a field's type becomes part of the answer. */
export type Completion =
  | { kind: 'leaf'; isNonNull: boolean; type: GraphQLLeafType }
  | { kind: 'list'; isNonNull: boolean; item: Completion }
  | { kind: 'object'; isNonNull: boolean; selection: PlannedSelection }
  | {
      kind: 'abstract';
      isNonNull: boolean;
      type: GraphQLAbstractType;
      selectionOf: (type: GraphQLObjectType) => SelectionPlan;
    };

/** A field of a selection, with all facts that do not depend on the source object. */
export interface FieldPlan {
  responseName: string;
  nodes: readonly FieldNode[];
  field: GraphQLField<unknown, unknown>;
  parentType: GraphQLObjectType;
  completion: Completion;
  /** Undefined for graphql's default resolver, which reads the source's own property. */
  resolve: GraphQLFieldResolver<unknown, unknown> | undefined;
  arguments: ArgumentsPlan;
}

export class SelectionPlan {
  readonly type: GraphQLObjectType;
  readonly fields: readonly FieldPlan[];
  /** The answer's object without values: its keys in order, to be copied. */
  readonly template: Readonly<Record<string, unknown>>;
  /** The characters of the object's braces, keys, colons and commas in JSON. */
  readonly keysLength: number;
  /** The fields whose values `read` leaves undefined. */
  readonly unread: readonly FieldPlan[];
  /** Whether `read` creates the complete object. */
  readonly isPlain: boolean;
  readonly #hasSimple: boolean;
  #reader: Reader | undefined;
  #firstExecution: number | undefined;
  #partlyRead: PartlyRead | undefined;

  constructor(type: GraphQLObjectType, fields: readonly FieldPlan[]) {
    this.type = type;
    this.fields = fields;
    this.template = Object.fromEntries(fields.map(({ responseName }) => [responseName, undefined]));
    this.keysLength = fields.reduce((sum, { responseName }) => sum + responseName.length + '"":,'.length, 1);
    const simple = countSimple(fields);
    this.#hasSimple = simple > 0;
    this.unread = fields.slice(simple);
    this.isPlain = this.unread.length === 0 && !type.isTypeOf;
  }

  /**
   * Reads the source with a compiled Reader. The Reader is compiled at the second execution, because many documents run
   * only once.
   */
  read(source: unknown, execution: number, size: AnswerSize): Record<string, unknown> | undefined {
    if (this.#partlyRead?.source === source) return undefined;
    if (this.#reader) return this.#reader(source, this.#keep, size);
    if (!this.#hasSimple || typeof source !== 'object') return undefined;
    this.#firstExecution ??= execution;
    if (this.#firstExecution !== execution) this.#reader = compileReader(this.fields);
    return undefined;
  }

  /** The properties that `read` read from a source for which it returned undefined. They can be taken once. */
  takePartlyRead(source: unknown): PartlyRead | undefined {
    const read = this.#partlyRead;
    if (!read) return undefined;
    this.#partlyRead = undefined;
    return read.source === source ? read : undefined;
  }

  readonly #keep = (read: PartlyRead): undefined => {
    this.#partlyRead = read;
  };
}

/** A selection that is planned when it is first needed. */
class PlannedSelection {
  /** Undefined until the selection is planned. */
  plan: SelectionPlan | undefined;
  readonly #make: () => SelectionPlan;

  constructor(make: () => SelectionPlan) {
    this.#make = make;
  }

  get(): SelectionPlan {
    this.plan ??= this.#make();
    return this.plan;
  }
}

export interface PlannerParts {
  schema: GraphQLSchema;
  fragments: Readonly<Record<string, FragmentDefinitionNode>>;
  /** The variables that `@skip` and `@include` use. */
  conditions: Readonly<Record<string, unknown>>;
  /** Receives the number of planned fields. */
  onPlanned: (fieldCount: number) => void;
}

type Selection = SelectionSetNode['selections'][number];

/**
 * Plans the selections of one operation, for one combination of its conditions. Each selection is planned when it is
 * first needed.
 */
export class Planner {
  readonly #parts: PlannerParts;

  constructor(parts: PlannerParts) {
    this.#parts = parts;
  }

  planSelection(type: GraphQLObjectType, selectionSets: readonly SelectionSetNode[]): SelectionPlan {
    const nodes = new Map<string, FieldNode[]>();
    const visited = new Set<string>();
    for (const selectionSet of selectionSets) this.#collect(type, selectionSet, nodes, visited);
    const fields = [...nodes].flatMap(([responseName, same]) => this.#planField(type, responseName, same) ?? []);
    this.#parts.onPlanned(fields.length);
    return new SelectionPlan(type, fields);
  }

  /** https://spec.graphql.org/draft/#CollectFields() */
  #collect(
    type: GraphQLObjectType,
    { selections }: SelectionSetNode,
    nodes: Map<string, FieldNode[]>,
    visited: Set<string>,
  ): void {
    for (const selection of selections) {
      if (!this.#isIncluded(selection)) continue;
      if (selection.kind === Kind.FIELD) {
        const responseName = (selection.alias ?? selection.name).value;
        const same = nodes.get(responseName);
        if (same) same.push(selection);
        else nodes.set(responseName, [selection]);
        continue;
      }
      const fragment = this.#openFragment(selection, visited);
      if (fragment && this.#applies(fragment.typeCondition, type))
        this.#collect(type, fragment.selectionSet, nodes, visited);
    }
  }

  #openFragment(
    selection: Exclude<Selection, FieldNode>,
    visited: Set<string>,
  ): InlineFragmentNode | FragmentDefinitionNode | undefined {
    if (selection.kind === Kind.INLINE_FRAGMENT) return selection;
    const name = selection.name.value;
    if (visited.has(name)) return undefined;
    visited.add(name);
    return this.#parts.fragments[name];
  }

  /** @throws GraphQLError VARIABLES_INVALID if a condition is null. */
  #isIncluded(selection: Selection): boolean {
    if (!selection.directives?.length) return true;
    const variables = { sources: {}, coerced: this.#parts.conditions };
    const read = (directive: GraphQLDirective) =>
      orVariablesInvalid(() => getDirectiveValues(directive, selection, variables))?.['if'];
    return read(GraphQLSkipDirective) !== true && read(GraphQLIncludeDirective) !== false;
  }

  #applies(condition: FragmentDefinitionNode['typeCondition'] | undefined, type: GraphQLObjectType): boolean {
    if (!condition) return true;
    const named = typeFromAST(this.#parts.schema, condition);
    return named === type || (isAbstractType(named) && this.#parts.schema.isSubType(named, type));
  }

  #planField(parentType: GraphQLObjectType, responseName: string, nodes: readonly FieldNode[]): FieldPlan | undefined {
    const [node] = nodes;
    const field = node && this.#parts.schema.getField(parentType, node.name.value);
    if (!field) return undefined;
    const resolve = field.resolve === defaultFieldResolver ? undefined : field.resolve;
    return {
      responseName,
      nodes,
      field,
      parentType,
      completion: this.#planCompletion(field.type, nodes),
      resolve,
      arguments: planArguments(field, node),
    };
  }

  #planCompletion(type: GraphQLOutputType, nodes: readonly FieldNode[], isNonNull = false): Completion {
    if (isNonNullType(type)) return this.#planCompletion(type.ofType, nodes, true);
    if (isListType(type)) return { kind: 'list', isNonNull, item: this.#planCompletion(type.ofType, nodes) };
    if (isLeafType(type)) return { kind: 'leaf', isNonNull, type };
    const selectionSets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    const selectionOf = cacheByKey((runtimeType: GraphQLObjectType) => this.planSelection(runtimeType, selectionSets));
    if (isAbstractType(type)) return { kind: 'abstract', isNonNull, type, selectionOf };
    return { kind: 'object', isNonNull, selection: new PlannedSelection(() => selectionOf(type)) };
  }
}

function cacheByKey<Key, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>();
  return (key) => {
    let value = known.get(key);
    if (value === undefined) {
      value = make(key);
      known.set(key, value);
    }
    return value;
  };
}
