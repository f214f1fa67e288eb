import type fc from 'fast-check';
import {
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLNamedInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  isUnionType,
  OperationTypeNode,
} from 'graphql';
import { type Choices, choices } from './choices.ts';

/** A GraphQL request that is valid for its schema. */
export interface GeneratedRequest {
  kind: OperationTypeNode;
  query: string;
  variables: Record<string, unknown>;
  /** Other values for the same variables. */
  otherVariables: Record<string, unknown>;
  operationName?: string;
}

export interface DocumentOptions {
  kinds?: readonly [OperationTypeNode, ...OperationTypeNode[]];
  /** The maximum nesting of selections. */
  maxDepth?: number;
  /** The maximum number of fields; a fragment counts once. */
  maxFields?: number;
  /** Whether a field may be selected; by default every field. */
  admits?: (field: GraphQLField<unknown, unknown>, parentType: string) => boolean;
  /** Returns a JSON value for an argument or input field of this type; undefined leaves the choice to the generator. */
  sample?: (type: GraphQLNamedInputType, name: string, choices: Choices) => unknown;
}

/** Valid requests by construction: none has to be discarded. */
export function requests(schema: GraphQLSchema, options: DocumentOptions = {}): fc.Arbitrary<GeneratedRequest> {
  return choices().map((made) => generateRequest(schema, made, options));
}

export function generateRequest(schema: GraphQLSchema, made: Choices, options: DocumentOptions = {}): GeneratedRequest {
  return new RequestBuilder(schema, made, options).build();
}

/** Names that every object inherits from Object.prototype. */
const treacherousNames = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'] as const;
const strings = ['', 'a', 'Ada', 'x y', 'ü€𝄞', '"quoted" \\ and\nbroken', '__proto__', '0'] as const;
const integers = [1, 0, 2, 10, -1, 100, 2 ** 31 - 1] as const;
/** Introspection fields that return lists of types: graphql refuses documents that nest them. */
const nestingIntrospection = new Set(['fields', 'interfaces', 'possibleTypes', 'inputFields']);

interface Place {
  depth: number;
  /** The number of enclosing introspection fields that must not be nested. */
  introspected?: number;
}

interface Variable {
  name: string;
  definition: string;
}

class RequestBuilder {
  readonly #schema: GraphQLSchema;
  readonly #choices: Choices;
  readonly #options: DocumentOptions;
  readonly #maxDepth: number;
  #fieldsLeft: number;
  /**
   * The field and arguments of each response name, for the whole document. Fields with the same name can always be
   * merged.
   */
  readonly #responses = new Map<string, string>();
  readonly #fragments: { name: string; type: GraphQLCompositeType; text: string }[] = [];
  /** By the type and the position where the variable is allowed. */
  readonly #variables = new Map<string, Variable[]>();
  readonly #values: Record<string, unknown> = Object.create(null);
  readonly #otherValues: Record<string, unknown> = Object.create(null);
  readonly #names = new Set<string>();

  constructor(schema: GraphQLSchema, choices: Choices, options: DocumentOptions) {
    this.#schema = schema;
    this.#choices = choices;
    this.#options = options;
    this.#maxDepth = options.maxDepth ?? 6;
    this.#fieldsLeft = options.maxFields ?? 50;
  }

  build(): GeneratedRequest {
    const kind = this.#choices.oneOf(this.#options.kinds ?? [OperationTypeNode.QUERY]);
    const root = this.#schema.getRootType(kind);
    if (!root) throw new Error(`The schema has no ${kind}.`);
    const hasOther = this.#choices.chance(10);
    const name = hasOther || this.#choices.chance(30) ? 'Main' : '';
    const place = { depth: 0 };
    const selection =
      kind === OperationTypeNode.SUBSCRIPTION
        ? `{ ${this.#field(root, place, '')} }`
        : this.#selectionSet(root, place, kind === OperationTypeNode.QUERY);
    const definitions = [...this.#variables.values()].flat().map(({ definition }) => definition);
    const parameters = definitions.length > 0 ? `(${definitions.join(this.#choices.oneOf([', ', ' ']))})` : '';
    const operations = [
      `${kind} ${name}${parameters} ${selection}`,
      ...(hasOther ? ['query Other { __typename }'] : []),
    ];
    const fragments = this.#fragments.map(({ text }) => text);
    const parts = this.#choices.chance(50) ? [...fragments, ...operations] : [...operations, ...fragments];
    return {
      kind,
      query: parts.join('\n'),
      variables: this.#values,
      otherVariables: this.#otherValues,
      ...(name && { operationName: name }),
    };
  }

  #selectionSet(type: GraphQLCompositeType, place: Place, isQueryRoot = false): string {
    if (this.#choices.chance(3)) return '{}';
    const parts = Array.from({ length: 1 + this.#choices.below(4) }, () => this.#selection(type, place));
    if (isQueryRoot && this.#choices.chance(15)) parts.push(this.#introspection());
    return `{ ${parts.join(this.#choices.oneOf([' ', '\n  ', ', ']))} }`;
  }

  #selection(type: GraphQLCompositeType, place: Place): string {
    const kind = this.#choices.below(100);
    const inner = { ...place, depth: place.depth + 1 };
    if (kind > 90 && inner.depth < this.#maxDepth) {
      const condition = this.#overlapping(type);
      const on = condition === type && this.#choices.chance(50) ? '' : ` on ${condition}`;
      return `...${on}${this.#directives()} ${this.#selectionSet(condition, inner)}`;
    }
    if (kind > 80 && place.introspected === undefined) return this.#spread(type, inner);
    if (kind > 75) return this.#typename();
    return this.#field(type, place);
  }

  #typename(): string {
    return `${this.#alias('__typename', '__typename')}${this.#directives()}`;
  }

  #introspection(): string {
    const place = { depth: this.#maxDepth - 3, introspected: 0 };
    const parts = ['__schema', `__type(name: ${JSON.stringify(this.#choices.oneOf(this.#typeNames()))})`] as const;
    const [text, type] = this.#choices.chance(50) ? [parts[0], '__Schema'] : [parts[1], '__Type'];
    const introspected = this.#schema.getType(type);
    if (!isObjectType(introspected)) throw new Error(`There is no ${type}.`);
    const [name = ''] = text.split('(');
    return `${this.#alias(name, text)}${text.slice(name.length)} ${this.#selectionSet(introspected, place)}`;
  }

  #typeNames(): string[] {
    return [...Object.keys(this.#schema.getTypeMap()), 'Nothing'];
  }

  #spread(type: GraphQLCompositeType, place: Place): string {
    const known = this.#fragments.filter((fragment) => this.#overlaps(fragment.type, type));
    if (known.length > 0 && this.#choices.chance(60))
      return `...${this.#choices.oneOf(known)?.name}${this.#directives()}`;
    if (place.depth >= this.#maxDepth) return this.#typename();
    const condition = this.#overlapping(type);
    const directives = this.#directives();
    const selectionSet = this.#selectionSet(condition, place);
    // The innermost fragment is finished first, so a fragment cannot contain itself.
    const name = treacherousNames[this.#fragments.length + 1] ?? `F${this.#fragments.length}`;
    this.#fragments.push({ name, type: condition, text: `fragment ${name} on ${condition} ${selectionSet}` });
    return `...${name}${directives}`;
  }

  #field(type: GraphQLCompositeType, place: Place, directives?: string): string {
    const field = this.#choices.oneOf(this.#selectable(type, place));
    if (!field) return this.#typename();
    this.#fieldsLeft -= 1;
    const args = this.#arguments(field);
    const text = `${this.#alias(field.name, `${field.name}${args}: ${field.type}`)}${args}${directives ?? this.#directives()}`;
    const inner = getNamedType(field.type);
    if (!isCompositeType(inner)) return text;
    const introspected =
      place.introspected === undefined
        ? {}
        : { introspected: place.introspected + (nestingIntrospection.has(field.name) ? 1 : 0) };
    return `${text} ${this.#selectionSet(inner, { depth: place.depth + 1, ...introspected })}`;
  }

  #selectable(type: GraphQLCompositeType, { depth, introspected = 0 }: Place): GraphQLField<unknown, unknown>[] {
    if (isUnionType(type)) return [];
    const admits = this.#options.admits ?? (() => true);
    const isEnd = depth + 1 >= this.#maxDepth || this.#fieldsLeft <= 0;
    const fields = Object.values(type.getFields()).filter((field) => admits(field, type.name));
    const allowed = fields.filter(({ name }) => introspected < 2 || !nestingIntrospection.has(name));
    const leaves = allowed.filter((field) => !isCompositeType(getNamedType(field.type)));
    // A root type may have no leaf fields.
    return isEnd && (leaves.length > 0 || depth > 0) ? leaves : allowed;
  }

  /** `alias: name`, or the name alone if it is unused or has the same meaning already. */
  #alias(name: string, meaning: string): string {
    const wanted = this.#choices.chance(25) ? this.#choices.oneOf(['a', 'b', 'name', 'id', ...treacherousNames]) : name;
    const response = (this.#responses.get(wanted) ?? meaning) === meaning ? wanted : `r${this.#responses.size}`;
    this.#responses.set(response, meaning);
    return response === name ? name : `${response}: ${name}`;
  }

  #directives(): string {
    if (!this.#choices.chance(12)) return '';
    const names = this.#choices.oneOf<readonly string[]>([['skip'], ['include'], ['include', 'skip']]);
    return names.map((name) => ` @${name}(if: ${this.#condition()})`).join('');
  }

  #condition(): string {
    const type = this.#schema.getType('Boolean') as GraphQLNamedInputType;
    if (this.#choices.chance(50)) return this.#choices.oneOf(['false', 'true']);
    return this.#variable(type, 'if', { isRequired: true, hasDefault: false });
  }

  #arguments({ args }: GraphQLField<unknown, unknown>): string {
    const given = args.filter((argument) => isRequiredArgument(argument) || this.#choices.chance(50));
    if (given.length === 0) return '';
    return `(${given.map((argument) => `${argument.name}: ${this.#argument(argument)}`).join(', ')})`;
  }

  #argument({ name, type, default: fallback }: GraphQLArgument | GraphQLInputField): string {
    return this.#literal(type, name, fallback !== undefined);
  }

  /** A value or a variable that is allowed at a position of this type. */
  #literal(type: GraphQLInputType, name: string, hasDefault = false, mayVary = true): string {
    if (mayVary && this.#choices.chance(35)) {
      return this.#variable(getNullableType(type), name, { isRequired: isNonNullType(type), hasDefault });
    }
    if (isNonNullType(type)) return this.#value(type.ofType, name, mayVary);
    return this.#choices.chance(8) ? 'null' : this.#value(type, name, mayVary);
  }

  #value(type: GraphQLInputType, name: string, mayVary: boolean): string {
    if (isListType(type)) {
      const items = Array.from({ length: this.#choices.below(4) }, () =>
        this.#literal(type.ofType, name, false, mayVary),
      );
      return `[${items.join(', ')}]`;
    }
    if (!isInputObjectType(type)) return this.#print(type as GraphQLNamedInputType, name);
    const fields = Object.values(type.getFields()).filter(
      (field) => isRequiredInputField(field) || this.#choices.chance(40),
    );
    const parts = fields.map(
      (field) => `${field.name}: ${this.#literal(field.type, field.name, field.default !== undefined, mayVary)}`,
    );
    return `{${parts.join(', ')}}`;
  }

  #print(type: GraphQLNamedInputType, name: string): string {
    const value = this.#leaf(type, name);
    return isEnumType(type) ? String(value) : JSON.stringify(value);
  }

  #variable(
    type: GraphQLInputType,
    name: string,
    { isRequired, hasDefault }: { isRequired: boolean; hasDefault: boolean },
  ): string {
    const key = `${type} ${isRequired} ${hasDefault}`;
    const known = this.#variables.get(key) ?? [];
    const again = this.#choices.chance(40) ? this.#choices.oneOf(known) : undefined;
    if (again) return `$${again.name}`;
    const made = this.#defineVariable(type, name, isRequired, hasDefault);
    this.#variables.set(key, [...known, made]);
    return `$${made.name}`;
  }

  #defineVariable(type: GraphQLInputType, name: string, isRequired: boolean, hasDefault: boolean): Variable {
    const variable = this.#variableName();
    const form = this.#choices.below(3);
    const isGiven = form === 0 || (form === 2 && isRequired && !hasDefault);
    for (const values of [this.#values, this.#otherValues]) {
      if (isGiven) values[variable] = this.#json(type, name);
      else if (!this.#choices.chance(30)) values[variable] = this.#nullable(type, name, isRequired);
    }
    if (isGiven) return { name: variable, definition: `$${variable}: ${type}!` };
    if (form === 2) return { name: variable, definition: `$${variable}: ${type}` };
    const fallback = isRequired ? this.#value(type, name, false) : this.#literal(type, name, false, false);
    return { name: variable, definition: `$${variable}: ${type} = ${fallback}` };
  }

  #variableName(): string {
    const wanted = this.#choices.chance(10) ? this.#choices.oneOf(treacherousNames) : `v${this.#names.size}`;
    const name = this.#names.has(wanted) ? `v${this.#names.size}` : wanted;
    this.#names.add(name);
    return name;
  }

  #nullable(type: GraphQLInputType, name: string, isRequired: boolean): unknown {
    return !isRequired && this.#choices.chance(15) ? null : this.#json(type, name);
  }

  #json(type: GraphQLInputType, name: string): unknown {
    if (isNonNullType(type)) return this.#json(type.ofType, name);
    if (isListType(type)) {
      const isSingle = this.#choices.chance(15);
      const item = () => this.#nullable(getNullableType(type.ofType), name, isNonNullType(type.ofType));
      return isSingle ? this.#json(type.ofType, name) : Array.from({ length: this.#choices.below(4) }, item);
    }
    if (!isInputObjectType(type)) return this.#leaf(type as GraphQLNamedInputType, name);
    const fields = Object.values(type.getFields()).filter(
      (field) => isRequiredInputField(field) || this.#choices.chance(40),
    );
    return Object.fromEntries(
      fields.map((field) => [
        field.name,
        this.#nullable(getNullableType(field.type), field.name, isNonNullType(field.type)),
      ]),
    );
  }

  #leaf(type: GraphQLNamedInputType, name: string): unknown {
    const sampled = this.#options.sample?.(type, name, this.#choices);
    if (sampled !== undefined) return sampled;
    if (isEnumType(type)) return this.#choices.oneOf(type.getValues())?.name;
    switch (type.name) {
      case 'Int':
        return this.#choices.oneOf(integers);
      case 'Float':
        return this.#choices.oneOf([1, 0.5, -2.25e3]);
      case 'Boolean':
        return this.#choices.oneOf([false, true]);
      case 'ID':
        return this.#choices.oneOf(['1', 7, 'none']);
      default:
        return this.#choices.oneOf(strings);
    }
  }

  #overlapping(type: GraphQLCompositeType): GraphQLCompositeType {
    const types = Object.values(this.#schema.getTypeMap()).filter(
      (other) => isCompositeType(other) && this.#overlaps(other, type),
    ) as GraphQLCompositeType[];
    return this.#choices.oneOf([type, ...types]);
  }

  #overlaps(left: GraphQLCompositeType, right: GraphQLCompositeType): boolean {
    const members = this.#membersOf(right);
    return this.#membersOf(left).some((member) => members.includes(member));
  }

  #membersOf(type: GraphQLCompositeType): readonly GraphQLCompositeType[] {
    return isAbstractType(type) ? this.#schema.getPossibleTypes(type) : [type];
  }
}
