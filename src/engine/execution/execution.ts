import {
  type ExecutionResult,
  type GraphQLAbstractType,
  GraphQLError,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  isObjectType,
  locatedError,
  OperationTypeNode,
  type ValidatedExecutionArgs,
} from 'graphql';
import type { Cancellation } from '../../common/cancellation.ts';
import { yieldWhenDue } from '../../common/event-loop.ts';
import { TracelessError } from '../../common/stack-traces.ts';
import { answerTooLong, payloadTooLong } from '../answer.ts';
import { Pending, PendingValues } from './pending.ts';
import { type Completion, type FieldPlan, findPlan, readArguments, type SelectionPlan } from './plan.ts';

export interface ExecutionOptions {
  cancellation?: Cancellation | undefined;
  /**
   * The execution stops when its answer is longer, so that time and memory are bounded by the limit and not by the
   * selection.
   */
  maxLength?: number;
  /**
   * Root fields run one after the other, as those of a mutation always do, and the event loop may run other work
   * between them.
   */
  isSerial?: boolean;
}

type ObjectValue = Record<string, unknown>;

/** The path of a value in the answer. Each path is one object, so that it is recognised by identity. */
type Path = GraphQLResolveInfo['path'];

/**
 * One execution of a validated operation by its plan. Its data, errors and paths are equal to those of graphql's own executor
 * (https://spec.graphql.org/September2026/#sec-Execution), for resolvers that return values, arrays and promises of them.
 * It reads each object's fields at once, and waits for none of them.
 */
export class Execution {
  /**
   * The characters of strings, keys and punctuation of the answer so far; any other value counts as one character. They never
   * exceed the number of bytes of the JSON.
   */
  characters = 0;
  readonly #args: ValidatedExecutionArgs;
  readonly #cancellation: Cancellation | undefined;
  readonly #maxLength: number;
  readonly #isSerial: boolean;
  /** In a serial execution, the root field that runs or that ran last. */
  #rootField: FieldPlan | undefined;
  /** The answer is complete or no longer needed: no further resolver is called. */
  #isOver = false;
  /** At most one for each value that is null because of an error. */
  readonly #errors: GraphQLError[] = [];
  #nulled: Set<Path> | undefined;

  constructor(args: ValidatedExecutionArgs, options: ExecutionOptions = {}) {
    const { cancellation, maxLength = Number.POSITIVE_INFINITY, isSerial = false } = options;
    this.#args = args;
    this.#cancellation = cancellation;
    this.#maxLength = maxLength;
    this.#isSerial = isSerial || args.operation.operation === OperationTypeNode.MUTATION;
  }

  get isTooLong(): boolean {
    return this.characters > this.#maxLength;
  }

  /** @throws the cancellation's reason, if it is cancelled. */
  run(): ExecutionResult | Promise<ExecutionResult> {
    this.#cancellation?.throwIfCancelled();
    try {
      const root = findPlan(this.#args);
      if (this.#isSerial) [this.#rootField] = root.fields;
      const data = this.#isSerial && root.fields.length > 1 ? this.#selectSerially(root) : this.#selectRoot(root);
      if (!(data instanceof Promise)) return this.#respond(data);
      const result = data.then(
        (value) => this.#respond(value),
        (error) => this.#fail(error),
      );
      // A resolver that hangs does not delay the answer to a cancelled operation.
      const onCancel = () => {
        this.#isOver = true;
      };
      return this.#cancellation?.race(result, { onCancel }) ?? result;
    } catch (error) {
      return this.#fail(error);
    }
  }

  /** Returns what the resolver of a subscription's root field returns. @throws GraphQLError. */
  async subscribe(): Promise<unknown> {
    const [plan] = findPlan(this.#args).fields;
    if (!plan?.field.subscribe) throw new Error('The subscription has no source.');
    const path = pathOf(plan);
    try {
      const { rootValue, contextValue, variableValues } = this.#args;
      const args = readArguments(plan.field, plan.nodes[0], variableValues);
      return await plan.field.subscribe(rootValue, args, contextValue, this.#createInfo(plan, path));
    } catch (error) {
      throw locate(error, plan, path);
    }
  }

  #selectRoot(plan: SelectionPlan): ObjectValue | Promise<ObjectValue> {
    const values = this.#select(plan, this.#args.rootValue, undefined);
    return values instanceof Pending ? values.toPromise() : values;
  }

  /** Executes each root field after the field before it has settled. */
  async #selectSerially(plan: SelectionPlan): Promise<ObjectValue> {
    const values: ObjectValue = { ...plan.template };
    this.characters += plan.keysLength;
    for (const [index, field] of plan.fields.entries()) {
      if (index > 0) await yieldWhenDue();
      this.#assertRunning();
      this.#rootField = field;
      values[field.responseName] = await this.#executeRootField(field);
    }
    return values;
  }

  #executeRootField(field: FieldPlan): unknown {
    if (this.#cancellation?.isCancelled) {
      return this.#handle(field.completion, this.#cancellation.reason, field, pathOf(field));
    }
    const value = this.#execute(field, this.#args.rootValue, undefined);
    return value instanceof Pending ? value.toPromise() : value;
  }

  #fail(error: unknown): ExecutionResult {
    // An error that reaches this line came from a field or from a condition.
    if (!this.#isOver) this.#errors.push(error as GraphQLError);
    return this.#respond(null);
  }

  #respond(data: ObjectValue | null): ExecutionResult {
    if (!this.#cancellation?.hasCommitted) this.#cancellation?.throwIfCancelled();
    this.#isOver = true;
    if (this.isTooLong) return this.#refuseTooLong();
    return this.#errors.length > 0 ? { errors: this.#errors, data } : { data };
  }

  /** A query that is too long is refused as a whole. A mutation reports the root field whose payload was too long. */
  #refuseTooLong(): ExecutionResult {
    const { operation } = this.#args.operation;
    const limit = this.#maxLength;
    if (operation !== OperationTypeNode.MUTATION || !this.#rootField) {
      return { errors: [locatedError(answerTooLong(limit, operation), undefined)] };
    }
    const { responseName, nodes } = this.#rootField;
    const error = locatedError(payloadTooLong(limit, responseName), nodes, [responseName]);
    return { errors: [...this.#errors, error], data: null };
  }

  /** @throws if the execution is over, or is over now because its answer is too long. */
  #assertRunning(): void {
    this.#isOver ||= this.isTooLong;
    if (this.#isOver) throw new TracelessError('The execution is over.');
  }

  /** @throws GraphQLError if a non-null field has an error. */
  #select(plan: SelectionPlan, source: unknown, path: Path | undefined): ObjectValue | Pending<ObjectValue> {
    this.characters += plan.keysLength;
    this.#assertRunning();
    const projected = plan.project(source, this);
    const values: ObjectValue = projected ?? { ...plan.template };
    let pending: PendingValues<ObjectValue> | undefined;
    for (const field of projected ? plan.nonTextFields : plan.fields) {
      const value = this.#execute(field, source, path);
      values[field.responseName] = value;
      if (!(value instanceof Pending)) continue;
      pending ??= new PendingValues(values);
      pending.waitFor(field.responseName, value);
    }
    return pending ?? values;
  }

  /** The field's completed value, which may be pending; null if an error makes it null. @throws GraphQLError. */
  #execute(field: FieldPlan, source: unknown, parent: Path | undefined): unknown {
    const path = pathOf(field, parent);
    try {
      return this.#settle(field.completion, this.#resolve(field, source, path), field, path);
    } catch (error) {
      return this.#handle(field.completion, error, field, path);
    }
  }

  #resolve(field: FieldPlan, source: unknown, path: Path): unknown {
    const resolve = field.resolve ?? (source as ObjectValue | undefined)?.[field.field.name];
    if (typeof resolve !== 'function') return resolve;
    const { contextValue, variableValues } = this.#args;
    const args = readArguments(field.field, field.nodes[0], variableValues);
    const info = this.#createInfo(field, path);
    return field.resolve
      ? field.resolve(source, args, contextValue, info)
      : resolve.call(source, args, contextValue, info);
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
      getAbortSignal,
      getAsyncHelpers,
    };
  }

  #settle(completion: Completion, value: unknown, field: FieldPlan, path: Path): unknown {
    if (isPromise(value)) return this.#settleLater(completion, value, field, path);
    try {
      const completed = this.#complete(completion, value, field, path);
      if (!(completed instanceof Pending)) return completed;
      return completed.recoverWith((error) => this.#handle(completion, error, field, path));
    } catch (error) {
      return this.#handle(completion, error, field, path);
    }
  }

  #settleLater(completion: Completion, value: Promise<unknown>, field: FieldPlan, path: Path): Pending {
    const pending = new Pending();
    value.then(
      (settled) => {
        try {
          pending.resolve(this.#settle(completion, settled, field, path));
        } catch (error) {
          pending.reject(error);
        }
      },
      (error) => {
        try {
          pending.resolve(this.#handle(completion, error, field, path));
        } catch (located) {
          pending.reject(located);
        }
      },
    );
    return pending;
  }

  #complete(completion: Completion, value: unknown, field: FieldPlan, path: Path): unknown {
    if (value instanceof Error) throw value;
    if (value == null) {
      if (!completion.isNonNull) return null;
      throw new Error(`Cannot return null for non-nullable field ${nameOf(field)}.`);
    }
    switch (completion.kind) {
      case 'leaf':
        return this.#completeLeaf(completion.type, value);
      case 'list':
        return this.#completeList(completion.item, value, field, path);
      case 'object':
        return this.#select(completion.selectionOf(completion.type), value, path);
      case 'abstract':
        return this.#select(completion.selectionOf(this.#typeOf(completion.type, value, field, path)), value, path);
    }
  }

  #completeLeaf(type: GraphQLLeafType, value: unknown): unknown {
    const coerced: unknown = type.coerceOutputValue(value);
    if (coerced == null) throw new Error(`Expected \`${type.name}.coerceOutputValue\` to return non-nullable value.`);
    this.characters += typeof coerced === 'string' ? coerced.length + '""'.length : 1;
    return coerced;
  }

  #completeList(item: Completion, list: unknown, field: FieldPlan, path: Path): unknown[] | Pending<unknown[]> {
    if (!Array.isArray(list)) throw new GraphQLError(`Expected an array for field "${nameOf(field)}".`);
    const values: unknown[] = [];
    let pending: PendingValues<unknown[]> | undefined;
    try {
      for (let index = 0; index < list.length; index += 1) {
        this.#assertRunning();
        const value = this.#settle(item, list[index], field, { prev: path, key: index, typename: undefined });
        values.push(value);
        if (!(value instanceof Pending)) continue;
        pending ??= new PendingValues(values);
        pending.waitFor(index, value);
      }
    } catch (error) {
      // Nothing awaits them any more.
      for (const value of list) if (isPromise(value)) value.catch(() => {});
      throw error;
    }
    this.characters += values.length;
    return pending ?? values;
  }

  #typeOf(type: GraphQLAbstractType, value: unknown, field: FieldPlan, path: Path): GraphQLObjectType {
    const { schema, contextValue } = this.#args;
    const name = type.resolveType?.(value, contextValue, this.#createInfo(field, path), type);
    const runtimeType = typeof name === 'string' ? schema.getType(name) : undefined;
    if (isObjectType(runtimeType) && schema.isSubType(type, runtimeType)) return runtimeType;
    throw new GraphQLError(`Abstract type "${type}" was resolved to "${name}", which is none of its object types.`);
  }

  /** Returns null for a nullable type; for a non-null type the error propagates to the parent. */
  #handle({ isNonNull }: Completion, error: unknown, field: FieldPlan, path: Path): null {
    if (this.#isOver) return null;
    const located = locate(error, field, path);
    if (isNonNull) throw located;
    if (!this.#isNulled(path)) {
      this.#nulled ??= new Set();
      this.#nulled.add(path);
      this.#errors.push(located);
    }
    return null;
  }

  /** Whether the value at the path, or a value that contains it, is already null because of an error. */
  #isNulled(path: Path): boolean {
    for (let place: Path | undefined = path; place; place = place.prev) if (this.#nulled?.has(place)) return true;
    return false;
  }
}

function pathOf({ responseName, parentType }: FieldPlan, parent?: Path): Path {
  return { prev: parent, key: responseName, typename: parentType.name };
}

function locate(error: unknown, { nodes }: FieldPlan, path: Path): GraphQLError {
  return locatedError(error, nodes, toKeys(path));
}

function toKeys({ prev, key }: Path): (string | number)[] {
  return prev ? [...toKeys(prev), key] : [key];
}

function getAbortSignal(): undefined {}

function getAsyncHelpers(): never {
  throw new Error('An execution does not track work that nothing waits for.');
}

function nameOf({ parentType, field }: FieldPlan): string {
  return `${parentType}.${field.name}`;
}

function isPromise(value: unknown): value is Promise<unknown> {
  return value instanceof Promise;
}
