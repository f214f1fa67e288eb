import {
  buildSchema,
  GraphQLError,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNullableType,
  isAbstractType,
  isEnumType,
  isInterfaceType,
  isLeafType,
  isListType,
  isObjectType,
  isUnionType,
  Kind,
} from 'graphql';
import { Ticking } from '../server/ticking.ts';

/*
 * A schema whose resolvers return values, promises and arrays of them, right or wrong. The behaviour of each depends only
 * on a seed and its path.
 */

const typeDefs = /* GraphQL */ `
  "Fails on some values, on the way in and on the way out."
  scalar Odd
  enum Mood { HAPPY SAD TIRED }
  interface Being { id: ID! name: String friend: Being friends: [Being!] mood: Mood }
  interface Named { name: String nickname(of: String): String! }
  union Pet = Cat | Dog | Ghost
  type Cat implements Being & Named {
    id: ID! name: String nickname(of: String): String! friend: Being friends: [Being!] mood: Mood
    lives: Int! weights: [Float!]! naps: [[Int!]] toys: [Toy!]! best: Toy
  }
  type Dog implements Being & Named {
    id: ID! name: String nickname(of: String): String! friend: Cat friends: [Cat!] mood: Mood
    owner: Named! pack: [Dog]! bones: [[Toy]!]! good: Boolean! odd: Odd!
  }
  type Ghost implements Named { name: String nickname(of: String): String! haunts: [Pet] scares: Pet! odds: [Odd!] }
  type Toy { id: ID! price: Float odd: Odd moods: [Mood!] owner: Being! parts(first: Int = 2, odd: Odd): [Toy]
    count: Int size: Int! weight: Int label: String! code: ID fine: Boolean!
  }
  input Filter { text: String = "all" moods: [Mood!] limit: Int! = 3 odd: Odd = "fine" and: [Filter!] }
  type Query {
    being: Being beingX: Being! named: Named namedX: Named! pet: Pet petX: Pet!
    cat: Cat dog: Dog! toy: Toy
    beings: [Being] beingsX: [Being!]! nameds: [Named!] pets: [[Pet!]]
    search(text: String = "any", filter: Filter, list: [Int!], odd: Odd, mood: Mood! = HAPPY, id: ID): [Toy!]
    count(filter: Filter! = { limit: 1 }, odd: Odd! = "fine"): Int
    info(filter: [Filter]): String infoX: String!
    int: Int float: Float! string: String boolean: Boolean id: ID odd: Odd mood: Mood
    ints: [Int] intsX: [Int!]! matrix: [[Int]!] matrixX: [[Int!]!]!
    self: Query selfX: Query!
  }
  type Mutation {
    step(n: Int = 1, filter: Filter): Query stepX(n: Int! = 1): Query! being: Being! count(odd: Odd): Int
  }
  type Subscription { cat: Cat beingX: Being! pets: [Pet!] info: String }
`;

/** A pseudo-random number generator that is seeded with text. */
class Dice {
  #state: number;

  constructor(words: string) {
    let hash = 2_166_136_261;
    for (let index = 0; index < words.length; index += 1) {
      hash = Math.imul(hash ^ words.charCodeAt(index), 16_777_619);
    }
    this.#state = hash >>> 0;
  }

  below(count: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % count;
  }

  oneOf<T>(items: readonly [T, ...T[]]): T {
    return items[this.below(items.length)] ?? items[0];
  }

  chance(percent: number): boolean {
    return this.below(100) < percent;
  }
}

export interface WorldOptions {
  seed: number;
  /** The probability of faults and of delays, in percent. */
  faults: number;
  delays: number;
  /** Whether promises settle one at a time, in the order of `Ticking`; otherwise they settle at once, in any order. */
  isOrdered: boolean;
}

/** The context of one execution: the settings of the resolvers and a log of their calls. */
export class StreamFixture {
  readonly ticking = new Ticking();
  readonly log: string[] = [];
  readonly #options: WorldOptions;

  constructor(options: WorldOptions) {
    this.#options = options;
  }

  dice(place: string): Dice {
    return new Dice(`${this.#options.seed} ${place}`);
  }

  /** A promise for which an async resolver can wait. */
  async pause(info: GraphQLResolveInfo): Promise<void> {
    const dice = this.dice(`pause ${pathOf(info)}`);
    if (this.#options.isOrdered) await this.ticking.promise(dice.below(2 ** 31), () => undefined);
  }

  /** Returns the value or a promise of it; `delays` is the probability of a promise. */
  perhapsLater<T>(dice: Dice, make: () => T): T | Promise<T> {
    return dice.chance(this.#options.delays) ? this.#later(dice, make) : make();
  }

  #later<T>(dice: Dice, make: () => T): Promise<T> {
    if (!this.#options.isOrdered) return dice.chance(50) ? Promise.resolve().then(make) : (async () => make())();
    return this.ticking.promise(dice.below(2 ** 31), make);
  }

  isFault(dice: Dice): boolean {
    return dice.chance(this.#options.faults);
  }

  /** The value of a field of this type at this path. */
  value(type: GraphQLOutputType, place: string): unknown {
    const dice = this.dice(place);
    return this.perhapsLater(dice, () => this.#valueNow(type, place, dice));
  }

  #valueNow(type: GraphQLOutputType, place: string, dice: Dice): unknown {
    if (this.isFault(dice)) return this.#fault(place, dice);
    const nullable = getNullableType(type);
    if (isListType(nullable)) return this.#list(nullable.ofType, place, dice);
    return isLeafType(nullable) ? leaf(nullable, dice) : this.createObject(nullable as GraphQLNamedType, place, dice);
  }

  #fault(place: string, dice: Dice): unknown {
    const error = createError(place, dice);
    switch (dice.below(8)) {
      case 0:
      case 1:
        return null;
      case 2:
        return undefined;
      case 3:
        return error instanceof Error ? error : null;
      case 4:
      case 5:
        return dice.oneOf<unknown>([{}, [], 'text', 1.5, Number.NaN, 2 ** 40, true, Symbol.iterator, () => 'called']);
      default:
        throw error;
    }
  }

  #list(type: GraphQLOutputType, place: string, dice: Dice): unknown {
    const length = dice.below(4);
    return Array.from({ length }, (_, index) => this.#caught(type, `${place}.${index}`));
  }

  /** An error is returned as the item, because an error thrown here would fail the whole list. */
  #caught(type: GraphQLOutputType, place: string): unknown {
    try {
      const value = this.value(type, place);
      return /\.\d+\.\d+$/.test(place) ? lookAfter(value) : value;
    } catch (error) {
      return error;
    }
  }

  /**
   * Creates an object of the type, or of a possible type of an abstract type. Its fields are properties, methods and
   * accessors.
   */
  createObject(type: GraphQLNamedType, place: string, dice: Dice): object {
    const types = isUnionType(type)
      ? ['Cat', 'Dog', 'Ghost']
      : isInterfaceType(type)
        ? ['Cat', 'Dog', ...(type.name === 'Named' ? ['Ghost'] : [])]
        : [type.name];
    const kind = types[dice.below(types.length)] ?? '';
    const runtimeType = schema.getType(this.isFault(dice) ? 'Toy' : kind);
    if (!isObjectType(runtimeType)) throw new Error(`There is no type ${kind}.`);
    const object: Record<string, unknown> = dice.chance(10) ? (Object.assign(() => place, {}) as never) : {};
    Object.defineProperty(object, thing, { value: { kind, place } });
    for (const field of Object.values(runtimeType.getFields()))
      this.#defineField(object, field, `${place}.${field.name}`);
    return object;
  }

  #defineField(object: object, field: GraphQLField<unknown, unknown>, place: string): void {
    if (field.name === 'name' || field.name === 'length') {
      // A function has its own properties of these names.
      Object.defineProperty(object, field.name, {
        value: this.dice(place).oneOf(['Ada', '', null]),
        configurable: true,
      });
      return;
    }
    const method = this.dice(`${place} form`).chance(25) ? this.#createMethod(field, place) : undefined;
    // A row has the same value at each access.
    let value: { is: unknown } | undefined;
    const get = () => {
      value ??= { is: method ?? this.#caught(field.type, place) };
      return value.is;
    };
    Object.defineProperty(object, field.name, { get });
  }

  #createMethod(field: GraphQLField<unknown, unknown>, place: string) {
    return (args: object, world: StreamFixture, info: GraphQLResolveInfo) => {
      world.note(info, args);
      return this.value(field.type, `${place}()`);
    };
  }

  note(info: GraphQLResolveInfo, args: object): void {
    this.log.push(`${pathOf(info)} ${info.fieldNodes.map(({ loc }) => loc?.start)} ${JSON.stringify(args)}`);
  }
}

const thing = Symbol('thing');

/** The type and path of an object that `createObject` created. */
function thingOf(value: unknown): { kind: string; place: string } {
  const known = (value as { [thing]?: { kind: string; place: string } })[thing];
  return known ?? { kind: 'Cat', place: 'unknown' };
}

/**
 * The executors may leave promises in a nested list without a handler, so their creator handles rejections.
 */
function lookAfter(value: unknown): unknown {
  Promise.resolve(value).catch(() => {});
  return value;
}

function createError(place: string, dice: Dice): unknown {
  switch (dice.below(6)) {
    case 0:
      return new GraphQLError(`A GraphQLError at ${place}.`, { extensions: { code: 'ODD' } });
    case 1:
      return Object.assign(new TypeError(`A TypeError at ${place}.`), { extensions: { code: 'ODDER' } });
    case 2:
      return `A string at ${place}.`;
    case 3:
      return undefined;
    default:
      return new Error(`An Error at ${place}.`, { cause: place });
  }
}

function leaf(type: GraphQLNamedType, dice: Dice): unknown {
  if (isEnumType(type)) return dice.oneOf(['HAPPY', 'SAD', 'TIRED']);
  switch (type.name) {
    case 'Int':
      return dice.oneOf<unknown>([0, 1, -1, 2 ** 31 - 1, '12', true, { valueOf: () => 3 }, 7n]);
    case 'Float':
      return dice.oneOf([0, 1.5, '2.5', -0, 1e300]);
    case 'Boolean':
      return dice.oneOf([true, false, 1, 0]);
    case 'ID':
      return dice.oneOf<unknown>(['a', 7, '', { toJSON: () => 'json' }, 9n]);
    default:
      return dice.oneOf<unknown>(['text', '', 1, true, 'ü', { valueOf: () => 'valued' }]);
  }
}

function pathOf({ path }: GraphQLResolveInfo): string {
  const keys: string[] = [];
  for (let place: typeof path | undefined = path; place; place = place.prev)
    keys.push(`${place.typename ?? ''}.${place.key}`);
  return keys.reverse().join('/');
}

/** All the information that a resolver receives about its field. */
function describe(info: GraphQLResolveInfo): string {
  return JSON.stringify([
    pathOf(info),
    info.fieldName,
    String(info.returnType),
    String(info.parentType),
    info.fieldNodes.map(({ loc }) => loc?.start),
    Object.keys(info.fragments),
    info.variableValues.coerced,
    info.operation.loc?.start,
    typeof info.rootValue,
    info.schema === schema,
  ]);
}

type Resolver = GraphQLFieldResolver<unknown, StreamFixture>;

/** The different ways to write a resolver. */
const forms: readonly ((field: GraphQLField<unknown, unknown>) => Resolver)[] = [
  (field) => (_source, args, world, info) => answer(field, args, world, info)(),
  (field) =>
    (...all) =>
      answer(field, all[1], all[2], all[3])(),
  (field) =>
    (_source, args, ...[world, info]) =>
      answer(field, args, world, info)(),
  (field) => async (_source, args, world, info) => {
    const answered = answer(field, args, world, info);
    await world.pause(info);
    return answered();
  },
];

/** Logs the call and modifies the arguments, because a resolver owns them. */
function answer(
  field: GraphQLField<unknown, unknown>,
  args: Record<string, unknown>,
  world: StreamFixture,
  info: GraphQLResolveInfo,
): () => unknown {
  world.note(info, args);
  if (field.args.length > 0) args['spoiled'] = true;
  const filter = info.fieldNodes[0]?.arguments?.find(({ name }) => name.value === 'filter')?.value;
  if (filter?.kind === Kind.OBJECT) Object.assign(args['filter'] as object, { spoiled: true });
  return () => (field.name.startsWith('info') ? describe(info) : world.value(field.type, pathOf(info)));
}

export const schema: GraphQLSchema = createNastySchema();

function createNastySchema(): GraphQLSchema {
  const built = buildSchema(typeDefs);
  let count = 0;
  for (const type of Object.values(built.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    const isRoot = ['Query', 'Mutation', 'Subscription'].includes(type.name);
    for (const field of Object.values(type.getFields())) {
      count += 1;
      const form = forms[count % (field.name.startsWith('info') ? 3 : forms.length)];
      if (form && (isRoot || count % 3 === 0)) field.resolve = form(field) as GraphQLFieldResolver<unknown, unknown>;
    }
  }
  for (const name of ['Being', 'Named', 'Pet']) {
    const type = built.getType(name);
    if (isAbstractType(type)) type.resolveType = (value, world) => resolveType(value, world as StreamFixture);
  }
  defineOdd(built);
  return built;
}

function resolveType(value: unknown, world: StreamFixture): string {
  const { kind, place } = thingOf(value);
  const dice = world.dice(`resolveType ${place}`);
  if (!world.isFault(dice)) return kind;
  if (dice.chance(30)) throw createError(place, dice);
  return dice.oneOf<unknown>(['Toy', 'Mood', 'Nothing', 'Being', undefined, null, 7]) as string;
}

function defineOdd(built: GraphQLSchema): void {
  const odd = built.getType('Odd');
  if (!odd || !('coerceOutputValue' in odd)) throw new Error('There is no Odd.');
  Object.assign(odd, {
    coerceOutputValue: (value: unknown) => {
      if (value === '') throw new Error('Odd cannot say nothing.');
      return value === 1 ? undefined : value === true ? null : { odd: String(value) };
    },
    coerceInputValue: (value: unknown) => ({ in: value }),
    coerceInputLiteral: (node: { value?: unknown }) => ({ literal: node.value ?? null }),
  });
}
