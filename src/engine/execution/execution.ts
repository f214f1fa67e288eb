import {
  type ExecutionResult,
  GraphQLError,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  getArgumentValues,
  isObjectType,
  locatedError,
  OperationTypeNode,
  type ValidatedExecutionArgs,
} from 'graphql';
import type { Arguments, Completion, FieldPlan, SelectionPlan } from './plan.ts';

/** Where a value stands in the answer; each place has one object, so that a place that became null is known again. */
interface Path {
  previous: Path | undefined;
  key: string | number;
}

type MaybePromise<T> = T | Promise<T>;
type ObjectValue = Record<string, unknown>;

/**
 * One execution of a planned operation, with the results of graphql's own executor in data, errors and paths
 * (https://spec.graphql.org/draft/#sec-Execution). What is known before it runs stands in the plan.
 */
export class Execution {
  readonly #args: ValidatedExecutionArgs;
  readonly #signal: AbortSignal | undefined;
  readonly #errors: GraphQLError[] = [];
  readonly #nulled = new Set<Path | undefined>();
  readonly #arguments: (Arguments | undefined)[] = [];

  constructor(args: ValidatedExecutionArgs) {
    this.#args = args;
    this.#signal = args.externalAbortSignal;
  }

  /** @throws the reason of the abort, where it was aborted. */
  run(root: SelectionPlan): MaybePromise<ExecutionResult> {
    try {
      const isSerial = this.#args.operation.operation === OperationTypeNode.MUTATION;
      const data = isSerial
        ? this.#selectSerially(root, this.#args.rootValue)
        : this.#select(root, this.#args.rootValue, undefined);
      if (!isPromise(data)) return this.#respond(data);
      return this.#orAborted(
        data.then(
          (value) => this.#respond(value),
          (error) => this.#fail(error),
        ),
      );
    } catch (error) {
      return this.#fail(error);
    }
  }

  #fail(error: unknown): ExecutionResult {
    this.#collect(error as GraphQLError, undefined);
    return this.#respond(null);
  }

  #respond(data: ObjectValue | null): ExecutionResult {
    if (this.#signal?.aborted) throw this.#signal.reason;
    return this.#errors.length > 0 ? { errors: this.#errors, data } : { data };
  }

  /** What hangs does not keep the answer back. */
  #orAborted<T>(result: Promise<T>): Promise<T> {
    const signal = this.#signal;
    if (!signal) return result;
    return new Promise((resolve, reject) => {
      const abort = () => reject(signal.reason);
      signal.addEventListener('abort', abort, { once: true });
      result.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
    });
  }

  #select(plan: SelectionPlan, source: unknown, path: Path | undefined): MaybePromise<ObjectValue> {
    const values: ObjectValue = plan.hasProtoName ? Object.create(null) : {};
    let pending: Promise<unknown>[] | undefined;
    try {
      for (const field of plan.fields) {
        const own = field.isAsIs && isObject(source) ? source[field.field.name] : undefined;
        const value = field.isAsIs?.(own) ? own : this.#executeField(field, source, path);
        if (isPromise(value)) {
          // Its place in the order of fields.
          values[field.responseName] = undefined;
          pending ??= [];
          pending.push(
            value.then((settled) => {
              values[field.responseName] = settled;
            }),
          );
        } else values[field.responseName] = value;
      }
    } catch (error) {
      for (const promise of pending ?? []) promise.catch(ignore);
      throw error;
    }
    return pending ? Promise.all(pending).then(() => values) : values;
  }

  async #selectSerially(plan: SelectionPlan, source: unknown): Promise<ObjectValue> {
    const values: ObjectValue = plan.hasProtoName ? Object.create(null) : {};
    for (const field of plan.fields) values[field.responseName] = await this.#executeField(field, source, undefined);
    return values;
  }

  #executeField(plan: FieldPlan, source: unknown, parentPath: Path | undefined): unknown {
    const path: Path = { previous: parentPath, key: plan.responseName };
    try {
      const value = this.#resolve(plan, source, path);
      const completed = isPromise(value)
        ? value.then((settled) => this.#complete(plan, plan.completion, settled, path))
        : this.#complete(plan, plan.completion, value, path);
      if (!isPromise(completed)) return completed;
      return completed.then(undefined, (error) => this.#handle(plan, plan.completion, error, path));
    } catch (error) {
      return this.#handle(plan, plan.completion, error, path);
    }
  }

  #resolve(plan: FieldPlan, source: unknown, path: Path): unknown {
    if (this.#signal?.aborted) throw this.#signal.reason;
    const { resolve, name } = plan.field;
    if (resolve)
      return resolve(source, this.#argumentsOf(plan), this.#args.contextValue, this.#infoFor(resolve, plan, path));
    // As graphql's own default: a property, or what it returns where it is a function.
    const value = isObject(source) ? source[name] : undefined;
    if (typeof value !== 'function') return value;
    return value.call(source, this.#argumentsOf(plan), this.#args.contextValue, this.#info(plan, path));
  }

  /** Once an execution: they depend on the variables alone. */
  #argumentsOf(plan: FieldPlan): Arguments {
    const [node] = plan.nodes;
    const known = plan.constantArguments ?? this.#arguments[plan.index];
    if (known || !node) return known ?? {};
    const made = getArgumentValues(plan.field, node, this.#args.variableValues);
    this.#arguments[plan.index] = made;
    return made;
  }

  /** Most resolvers do not look at it. */
  #infoFor(resolve: { length: number }, plan: FieldPlan, path: Path): GraphQLResolveInfo {
    return resolve.length > 3 ? this.#info(plan, path) : (undefined as unknown as GraphQLResolveInfo);
  }

  #info({ field, nodes, parentType }: FieldPlan, path: Path): GraphQLResolveInfo {
    const { schema, fragmentDefinitions, rootValue, operation, variableValues } = this.#args;
    return {
      fieldName: field.name,
      fieldNodes: nodes,
      returnType: field.type,
      parentType,
      path: toInfoPath(path),
      schema,
      fragments: fragmentDefinitions,
      rootValue,
      operation,
      variableValues,
      getAbortSignal: () => this.#signal,
      getAsyncHelpers: () => {
        throw new Error('A compiled execution tracks no work of its own.');
      },
    };
  }

  #complete(plan: FieldPlan, completion: Completion, value: unknown, path: Path): unknown {
    if (value instanceof Error) throw value;
    if (value == null) {
      if (completion.isNonNull) throw nullError(plan);
      return null;
    }
    switch (completion.kind) {
      case 'leaf': {
        const coerced: unknown = completion.type.coerceOutputValue(value);
        if (coerced == null) throw new Error(`A value of ${completion.type.name} came out as null.`);
        return coerced;
      }
      case 'list':
        return this.#completeList(plan, completion.item, value, path);
      case 'object':
        return this.#completeObject(plan, completion.selection, value, path);
      case 'abstract': {
        const type = this.#resolveType(plan, completion, value, path);
        return isPromise(type)
          ? type.then((name) => this.#completeAbstract(plan, completion, name, value, path))
          : this.#completeAbstract(plan, completion, type, value, path);
      }
    }
  }

  #completeList(plan: FieldPlan, item: Completion, value: unknown, path: Path): MaybePromise<unknown[]> {
    if (typeof value !== 'object' || value === null || !(Symbol.iterator in value)) {
      throw new GraphQLError(
        `Expected Iterable, but did not find one for field "${plan.parentType.name}.${plan.field.name}".`,
      );
    }
    const values: unknown[] = [];
    let isPending = false;
    try {
      for (const element of value as Iterable<unknown>) {
        const completed = this.#completeItem(plan, item, element, { previous: path, key: values.length });
        isPending ||= isPromise(completed);
        values.push(completed);
      }
    } catch (error) {
      for (const promise of values) if (isPromise(promise)) promise.catch(ignore);
      throw error;
    }
    return isPending ? Promise.all(values) : values;
  }

  #completeItem(plan: FieldPlan, item: Completion, element: unknown, path: Path): unknown {
    try {
      const completed = isPromise(element)
        ? element.then((settled) => this.#complete(plan, item, settled, path))
        : this.#complete(plan, item, element, path);
      if (!isPromise(completed)) return completed;
      return completed.then(undefined, (error) => this.#handle(plan, item, error, path));
    } catch (error) {
      return this.#handle(plan, item, error, path);
    }
  }

  #completeObject(plan: FieldPlan, selection: SelectionPlan, value: unknown, path: Path): MaybePromise<ObjectValue> {
    const { isTypeOf, name } = selection.type;
    if (!isTypeOf) return this.#select(selection, value, path);
    const check = (isOne: boolean) => {
      if (!isOne) throw new GraphQLError(`A value is not of type "${name}".`, { nodes: plan.nodes });
      return this.#select(selection, value, path);
    };
    const answer = isTypeOf(value, this.#args.contextValue, this.#info(plan, path));
    return isPromise(answer) ? answer.then(check) : check(answer as boolean);
  }

  #resolveType(
    plan: FieldPlan,
    { type }: Completion & { kind: 'abstract' },
    value: unknown,
    path: Path,
  ): MaybePromise<unknown> {
    const resolveType = type.resolveType ?? this.#args.typeResolver;
    return resolveType(value, this.#args.contextValue, this.#info(plan, path), type);
  }

  #completeAbstract(
    plan: FieldPlan,
    { type, selectionOf }: Completion & { kind: 'abstract' },
    name: unknown,
    value: unknown,
    path: Path,
  ): MaybePromise<ObjectValue> {
    const runtimeType = typeof name === 'string' ? this.#args.schema.getType(name) : undefined;
    if (!isObjectType(runtimeType) || !this.#args.schema.isSubType(type, runtimeType)) {
      throw new GraphQLError(`Abstract type "${type.name}" did not resolve to one of its members.`, {
        nodes: plan.nodes,
      });
    }
    return this.#completeObject(plan, selectionOf(runtimeType as GraphQLObjectType), value, path);
  }

  /** Null where null may stand; else the error is the parent's. */
  #handle(plan: FieldPlan, { isNonNull }: Completion, raw: unknown, path: Path): null {
    const error = locatedError(raw, plan.nodes, toKeys(path));
    if (isNonNull) throw error;
    this.#collect(error, path);
    return null;
  }

  /** An error beneath a place that is null already says nothing more. */
  #collect(error: GraphQLError, path: Path | undefined): void {
    for (let place = path; place; place = place.previous) if (this.#nulled.has(place)) return;
    if (this.#nulled.has(undefined)) return;
    this.#nulled.add(path);
    this.#errors.push(error);
  }
}

function nullError({ parentType, field }: FieldPlan): Error {
  return new Error(`Cannot return null for non-nullable field ${parentType.name}.${field.name}.`);
}

function toKeys(path: Path): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let place: Path | undefined = path; place; place = place.previous) keys.push(place.key);
  return keys.reverse();
}

function toInfoPath({ previous, key }: Path): GraphQLResolveInfo['path'] {
  return { prev: previous && toInfoPath(previous), key, typename: undefined };
}

function isObject(value: unknown): value is ObjectValue {
  return typeof value === 'object' && value !== null;
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

function ignore(): void {}
