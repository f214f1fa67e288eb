import {
  type ExecutionResult,
  GraphQLError,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  isObjectType,
  locatedError,
  OperationTypeNode,
  type ValidatedExecutionArgs,
} from 'graphql';
import { TracelessError } from '../../errors.ts';
import { yieldWhenDue } from '../../event-loop.ts';
import type { Cancellation } from '../cancellation.ts';
import { AnswerSize, answerTooLong, payloadTooLong } from '../limits/answer-size.ts';
import { ArgumentReader, type Arguments } from './arguments.ts';
import type { Completion, FieldPlan, SelectionPlan } from './plan.ts';
import { type PartlyRead, readProperty } from './reader.ts';
import { ignoreRejections, isAsyncIterable, isIterable, isPromise, isPromiseLike, isSettled, rest } from './values.ts';

/**
 * The path of a value in the answer. Each path is one object, so that a path that became null is recognised by
 * identity.
 */
type Path = GraphQLResolveInfo['path'];
type MaybePromise<T> = T | Promise<T>;
type ObjectValue = Record<string, unknown>;

export interface ExecutionOptions {
  cancellation?: Cancellation | undefined;
  /** Counts the answer. The execution stops when the count exceeds its limit. */
  size?: AnswerSize | undefined;
  /**
   * Root fields run one after the other, as those of a mutation always do, and the event loop may run other work
   * between them.
   */
  isSerial?: boolean;
}

/**
 * One execution of a planned operation. Its data, errors and paths are equal to those of graphql's own executor
 * (https://spec.graphql.org/draft/#sec-Execution). All facts that are known before the execution are in the plan.
 */
export class Execution {
  readonly #args: ValidatedExecutionArgs;
  readonly #arguments: ArgumentReader;
  readonly #number: number;
  readonly #errors: GraphQLError[] = [];
  readonly #cancellation: Cancellation | undefined;
  readonly #size: AnswerSize;
  readonly #isSerial: boolean;
  /** In a serial execution, the root field that runs or that ran last. */
  #rootField: FieldPlan | undefined;
  #nulled: Set<Path | undefined> | undefined;
  #isOver = false;
  /** Created for the first resolver that requests a signal. */
  #work: AbortController | undefined;

  constructor(args: ValidatedExecutionArgs, { cancellation, size, isSerial = false }: ExecutionOptions = {}) {
    this.#args = args;
    this.#cancellation = cancellation;
    this.#size = size ?? new AnswerSize(Number.POSITIVE_INFINITY);
    this.#isSerial = isSerial || args.operation.operation === OperationTypeNode.MUTATION;
    executionCount += 1;
    this.#number = executionCount;
    this.#arguments = new ArgumentReader(args.variableValues);
  }

  /** @throws the cancellation's reason, if it is cancelled. */
  run(findPlan: () => SelectionPlan): MaybePromise<ExecutionResult> {
    const { rootValue } = this.#args;
    this.#cancellation?.throwIfCancelled();
    try {
      const root = findPlan();
      const data = this.#isSerial ? this.#selectSerially(root, rootValue) : this.#select(root, rootValue, undefined);
      if (!isPromise(data)) return this.#respond(data);
      const result = data.then(
        (value) => this.#respond(value),
        (error) => this.#fail(error),
      );
      return this.#cancellation ? this.#orCancelled(result, this.#cancellation) : result;
    } catch (error) {
      return this.#fail(error);
    }
  }

  /** The stream of a subscription's root field. @throws GraphQLError if there is none. */
  async subscribe({ fields: [field] }: SelectionPlan): Promise<unknown> {
    if (!field?.field.subscribe) throw new Error('The subscription has no source.');
    const path = { prev: undefined, key: field.responseName, typename: field.parentType.name };
    try {
      const { rootValue, contextValue } = this.#args;
      const args = this.#readArguments(field);
      return await field.field.subscribe(rootValue, args, contextValue, this.#createInfo(field, path));
    } catch (error) {
      throw locatedError(error, field.nodes, toKeys(path));
    }
  }

  #fail(error: unknown): ExecutionResult {
    // An error that reaches this line came from a field or from a condition.
    if (!this.#isOver) this.#collect(error as GraphQLError, undefined);
    return this.#respond(null);
  }

  #respond(data: ObjectValue | null): ExecutionResult {
    if (!this.#cancellation?.hasCommitted) this.#cancellation?.throwIfCancelled();
    this.#end(undefined);
    if (this.#size.isExceeded) return this.#refuseTooLong();
    return this.#errors.length > 0 ? { errors: this.#errors, data } : { data };
  }

  /** A query that is too long is refused as a whole. A mutation reports the root field whose payload was too long. */
  #refuseTooLong(): ExecutionResult {
    const { operation } = this.#args.operation;
    const { limit } = this.#size;
    if (operation !== OperationTypeNode.MUTATION || !this.#rootField) {
      return { errors: [locatedError(answerTooLong(limit, operation), undefined)] };
    }
    const { responseName, nodes } = this.#rootField;
    const error = locatedError(payloadTooLong(limit, responseName), nodes, [responseName]);
    return { errors: [...this.#errors, error], data: null };
  }

  /** @throws if the execution has ended, or ends now because its answer is too long. */
  #assertFits(): void {
    if (this.#size.isExceeded) this.#end(undefined);
    this.#assertRunning();
  }

  /** Stops resolvers that still run for a field that became null, or for a result that is no longer needed. */
  #end(reason: unknown): void {
    this.#isOver = true;
    this.#work?.abort(reason);
  }

  /** A resolver that hangs does not delay the answer to a cancelled operation. */
  #orCancelled<T>(result: Promise<T>, cancellation: Cancellation): Promise<T> {
    return cancellation.race(result, { onCancel: () => this.#end(cancellation.reason) });
  }

  #assertRunning(): void {
    if (this.#isOver) throw new TracelessError('The execution is over.');
  }

  #select(plan: SelectionPlan, source: unknown, path: Path | undefined): MaybePromise<ObjectValue> {
    this.#size.characters += plan.keysLength;
    if (this.#size.isExceeded) this.#assertFits();
    const read = plan.read(source, this.#number, this.#size);
    const partly = read ? undefined : plan.takePartlyRead(source);
    const values: ObjectValue = read ?? { ...plan.template };
    const fields = read ? plan.unread : plan.fields;
    let pending: string[] | undefined;
    try {
      for (let index = 0; index < fields.length; index += 1) {
        const field = fields[index] as FieldPlan;
        const value = this.#executeField(field, source, path, partly, index);
        values[field.responseName] = value;
        if (isPromise(value)) {
          pending ??= [];
          pending.push(field.responseName);
        }
      }
    } catch (error) {
      ignoreRejections(Object.values(values));
      ignoreRejections(partly?.values ?? []);
      throw error;
    }
    return pending ? settleProperties(values, pending) : values;
  }

  /** Executes each field after the one before it has settled. */
  #selectSerially(
    plan: SelectionPlan,
    source: unknown,
    values: ObjectValue = { ...plan.template },
    start = 0,
  ): MaybePromise<ObjectValue> {
    if (start === 0) this.#size.characters += plan.keysLength;
    for (let index = start; index < plan.fields.length; index += 1) {
      const field = plan.fields[index] as FieldPlan;
      const value = this.#executeRootField(field, source);
      values[field.responseName] = value;
      const next = index + 1;
      const isLast = next === plan.fields.length;
      if (isPromise(value)) {
        return value.then((settled) => {
          values[field.responseName] = settled;
          return isLast ? values : this.#selectInTurn(plan, source, values, next);
        });
      }
      const turn = isLast ? undefined : yieldWhenDue();
      if (turn !== undefined) return turn.then(() => this.#selectSerially(plan, source, values, next));
    }
    return values;
  }

  async #selectInTurn(plan: SelectionPlan, source: unknown, values: ObjectValue, start: number): Promise<ObjectValue> {
    await yieldWhenDue();
    return this.#selectSerially(plan, source, values, start);
  }

  #executeRootField(field: FieldPlan, source: unknown): unknown {
    this.#assertFits();
    this.#rootField = field;
    return this.#cancellation?.isCancelled
      ? this.#refuseField(field, this.#cancellation.reason)
      : this.#executeField(field, source, undefined);
  }

  #executeField(plan: FieldPlan, source: unknown, parent: Path | undefined, partly?: PartlyRead, index = 0): unknown {
    let path: Path | undefined;
    let info: GraphQLResolveInfo | undefined;
    try {
      const own = plan.resolve ? undefined : readProperty(source, plan, partly, index);
      if (plan.completion.kind === 'leaf' && isSettled(own)) return this.#completeLeaf(plan.completion.type, own);
      path = { prev: parent, key: plan.responseName, typename: plan.parentType.name };
      info = this.#createInfo(plan, path);
      return this.#settle(plan.completion, this.#resolve(plan, source, own, info), path, info);
    } catch (error) {
      path ??= { prev: parent, key: plan.responseName, typename: plan.parentType.name };
      info ??= this.#createInfo(plan, path);
      return this.#handle(plan.completion, error, path, info);
    }
  }

  /** Adds an error for a root field that will not run. */
  #refuseField(plan: FieldPlan, reason: unknown): null {
    const path = { prev: undefined, key: plan.responseName, typename: plan.parentType.name };
    return this.#handle(plan.completion, reason, path, this.#createInfo(plan, path));
  }

  #resolve(plan: FieldPlan, source: unknown, own: unknown, info: GraphQLResolveInfo): unknown {
    const { resolve } = plan;
    if (!resolve && typeof own !== 'function') return own;
    const args = this.#readArguments(plan);
    const { contextValue } = this.#args;
    return resolve ? resolve(source, args, contextValue, info) : (own as Method).call(source, args, contextValue, info);
  }

  #readArguments({ arguments: plan, field, nodes: [node] }: FieldPlan): Arguments {
    return node ? this.#arguments.read(plan, field, node) : {};
  }

  #createInfo({ field, nodes, parentType }: FieldPlan, path: Path): GraphQLResolveInfo {
    const { schema, fragmentDefinitions, rootValue, operation, variableValues } = this.#args;
    return {
      fieldName: field.name,
      fieldNodes: nodes,
      returnType: field.type,
      parentType,
      path,
      schema,
      fragments: fragmentDefinitions,
      rootValue,
      operation,
      variableValues,
      getAbortSignal: this.#getAbortSignal,
      getAsyncHelpers,
    };
  }

  readonly #getAbortSignal = (): AbortSignal => {
    if (!this.#work) {
      this.#work = new AbortController();
      if (this.#isOver) this.#work.abort(this.#cancellation?.reason);
    }
    return this.#work.signal;
  };

  /** The completed value or a promise of it; null if an error makes it null. */
  #settle(completion: Completion, value: unknown, path: Path, info: GraphQLResolveInfo): unknown {
    if (isPromiseLike(value)) {
      const promise = isPromise(value) ? value : Promise.resolve(value);
      return this.#settleLater(completion, promise, path, info);
    }
    try {
      const completed = this.#complete(completion, value, path, info);
      if (!isPromise(completed)) return completed;
      return completed.then(undefined, (error) => this.#handle(completion, error, path, info));
    } catch (error) {
      return this.#handle(completion, error, path, info);
    }
  }

  #settleLater(
    completion: Completion,
    value: Promise<unknown>,
    path: Path,
    info: GraphQLResolveInfo,
  ): Promise<unknown> {
    const fail = (error: unknown) => this.#handle(completion, error, path, info);
    return value.then((settled) => {
      try {
        if (this.#isOver && Array.isArray(settled)) ignoreRejections(settled);
        this.#assertRunning();
        const completed = this.#complete(completion, settled, path, info);
        return isPromise(completed) ? completed.then(undefined, fail) : completed;
      } catch (error) {
        return fail(error);
      }
    }, fail);
  }

  #complete(completion: Completion, value: unknown, path: Path, info: GraphQLResolveInfo): unknown {
    if (value instanceof Error) throw value;
    if (value == null) {
      if (!completion.isNonNull) return null;
      throw new Error(`Cannot return null for non-nullable field ${info.parentType}.${info.fieldName}.`);
    }
    switch (completion.kind) {
      case 'leaf':
        return this.#completeLeaf(completion.type, value);
      case 'list':
        return this.#completeList(completion.item, value, path, info);
      case 'object':
        return this.#completeObject(completion.selection.get(), value, path, info);
      case 'abstract':
        return this.#completeAbstract(completion, value, path, info);
    }
  }

  #completeLeaf(type: GraphQLLeafType, value: unknown): unknown {
    const coerced: unknown = type.coerceOutputValue(value);
    if (coerced == null) throw new Error(`Expected \`${type.name}.coerceOutputValue\` to return non-nullable value.`);
    this.#size.addLeaf(coerced);
    return coerced;
  }

  #completeList(item: Completion, value: unknown, path: Path, info: GraphQLResolveInfo): MaybePromise<unknown[]> {
    if (isAsyncIterable(value)) return this.#completeAsyncList(item, value, path, info);
    if (!isIterable(value)) {
      const field = `${info.parentType}.${info.fieldName}`;
      throw new GraphQLError(`Expected Iterable, but did not find one for field "${field}".`);
    }
    const values: unknown[] = [];
    const iterator = value[Symbol.iterator]();
    let isPending = false;
    const planned = item.kind === 'object' ? item.selection.plan : undefined;
    const plain = planned?.isPlain ? planned : undefined;
    try {
      for (let next = iterator.next(); !next.done; next = iterator.next()) {
        if (this.#size.isExceeded) this.#assertFits();
        const read = plain?.read(next.value, this.#number, this.#size);
        if (read) {
          this.#size.characters += plain?.keysLength ?? 0;
          values.push(read);
          continue;
        }
        const place = { prev: path, key: values.length, typename: undefined };
        const completed = this.#settle(item, next.value, place, info);
        isPending ||= isPromise(completed);
        values.push(completed);
      }
    } catch (error) {
      ignoreRejections(values);
      ignoreRejections(rest(iterator));
      throw error;
    }
    this.#size.characters += values.length;
    return isPending ? Promise.all(values) : values;
  }

  async #completeAsyncList(
    item: Completion,
    iterable: AsyncIterable<unknown>,
    path: Path,
    info: GraphQLResolveInfo,
  ): Promise<unknown[]> {
    const values: unknown[] = [];
    for await (const element of iterable) {
      this.#assertRunning();
      const completed = this.#settle(item, element, { prev: path, key: values.length, typename: undefined }, info);
      // The promise may be rejected before the last element arrives.
      ignoreRejections([completed]);
      values.push(completed);
    }
    return Promise.all(values);
  }

  #completeObject(
    selection: SelectionPlan,
    value: unknown,
    path: Path,
    info: GraphQLResolveInfo,
  ): MaybePromise<ObjectValue> {
    const { isTypeOf, name } = selection.type;
    if (!isTypeOf) return this.#select(selection, value, path);
    const select = (isOne: boolean) => {
      if (!isOne)
        throw new GraphQLError(`Expected value of type "${name}" but got another.`, { nodes: info.fieldNodes });
      return this.#select(selection, value, path);
    };
    return this.#whenKnown(isTypeOf(value, this.#args.contextValue, info), select);
  }

  #completeAbstract(
    { type, selectionOf }: Completion & { kind: 'abstract' },
    value: unknown,
    path: Path,
    info: GraphQLResolveInfo,
  ): MaybePromise<ObjectValue> {
    const resolveType = type.resolveType ?? this.#args.typeResolver;
    const complete = (name: unknown) =>
      this.#completeObject(selectionOf(this.#runtimeTypeOrThrow(type, name, info)), value, path, info);
    return this.#whenKnown<unknown, ObjectValue>(resolveType(value, this.#args.contextValue, info, type), complete);
  }

  #whenKnown<Known, T>(known: Known | PromiseLike<Known>, go: (known: Known) => MaybePromise<T>): MaybePromise<T> {
    if (!isPromiseLike(known)) return go(known as Known);
    return Promise.resolve(known as PromiseLike<Known>).then((settled) => {
      this.#assertRunning();
      return go(settled);
    });
  }

  #runtimeTypeOrThrow(
    type: (Completion & { kind: 'abstract' })['type'],
    name: unknown,
    info: GraphQLResolveInfo,
  ): GraphQLObjectType {
    const { schema } = this.#args;
    const runtimeType = typeof name === 'string' ? schema.getType(name) : undefined;
    if (isObjectType(runtimeType) && schema.isSubType(type, runtimeType)) return runtimeType;
    throw wrongTypeError(type.name, name, runtimeType, info);
  }

  /** Returns null for a nullable type; for a non-null type the error propagates to the parent. */
  #handle({ isNonNull }: Completion, raw: unknown, path: Path, info: GraphQLResolveInfo): null {
    if (this.#isOver) return null;
    const error = locatedError(raw, info.fieldNodes, toKeys(path));
    if (isNonNull) throw error;
    this.#collect(error, path);
    return null;
  }

  /** Adds the error, unless its path is within a value that is already null. */
  #collect(error: GraphQLError, path: Path | undefined): void {
    this.#nulled ??= new Set();
    for (let place = path; place; place = place.prev) if (this.#nulled.has(place)) return;
    if (this.#nulled.has(undefined)) return;
    this.#nulled.add(path);
    this.#errors.push(error);
  }
}

let executionCount = 0;

type Method = (this: unknown, args: unknown, context: unknown, info: GraphQLResolveInfo) => unknown;

const asyncHelpers: ReturnType<GraphQLResolveInfo['getAsyncHelpers']> = {
  promiseAll: (values) => Promise.all(values) as Promise<never>,
  track: ignoreRejections,
};
const getAsyncHelpers = () => asyncHelpers;

function settleProperties(values: ObjectValue, pending: readonly string[]): Promise<ObjectValue> {
  const [only = ''] = pending;
  if (pending.length === 1) {
    return (values[only] as Promise<unknown>).then((settled) => {
      values[only] = settled;
      return values;
    });
  }
  return Promise.all(pending.map((name) => values[name])).then((settled) => {
    for (let index = 0; index < pending.length; index += 1) values[pending[index] ?? ''] = settled[index];
    return values;
  });
}

function wrongTypeError(
  abstract: string,
  name: unknown,
  type: unknown,
  { parentType, fieldName, fieldNodes: nodes }: GraphQLResolveInfo,
): GraphQLError {
  const known = `Abstract type "${abstract}" must resolve to an Object type at runtime for field "${parentType}.${fieldName}"`;
  if (name == null) {
    const advice = `Either the "${abstract}" type should provide a "resolveType" function or each possible type should provide an "isTypeOf" function.`;
    return new GraphQLError(`${known}. ${advice}`, { nodes });
  }
  if (typeof name !== 'string') return new GraphQLError(`${known} with a value which is not a valid Object type name.`);
  if (!type) {
    return new GraphQLError(
      `Abstract type "${abstract}" was resolved to a type "${name}" that does not exist inside the schema.`,
      { nodes },
    );
  }
  if (!isObjectType(type)) {
    return new GraphQLError(`Abstract type "${abstract}" was resolved to a non-object type "${name}".`, { nodes });
  }
  return new GraphQLError(`Runtime Object type "${name}" is not a possible type for "${abstract}".`, { nodes });
}

function toKeys(path: Path): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let place: Path | undefined = path; place; place = place.prev) keys.push(place.key);
  return keys.reverse();
}
