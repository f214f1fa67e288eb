import {
  type GraphQLAbstractType,
  GraphQLError,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  isObjectType,
  type ValidatedExecutionArgs,
} from 'graphql';
import { TracelessError } from '../../common/stack-traces.ts';
import type { AnswerSize } from '../limits/answer-size.ts';
import { FieldErrors, locate, type Path, pathOf } from './field-errors.ts';
import { Pending, PendingValues } from './pending.ts';
import { type Completion, type FieldPlan, readArguments, type SelectionPlan } from './plan.ts';

export type ObjectValue = Record<string, unknown>;

/** Executes the planned fields of one operation. It reads each object's fields at once, and waits for none of them. */
export class FieldExecutor {
  readonly errors = new FieldErrors();
  /** The answer is complete or no longer needed: no further resolver is called. */
  isOver = false;
  readonly #args: ValidatedExecutionArgs;
  readonly #size: AnswerSize;

  constructor(args: ValidatedExecutionArgs, size: AnswerSize) {
    this.#args = args;
    this.#size = size;
  }

  /** @throws if the execution is over, or is over now because its answer is too long. */
  assertRunning(): void {
    this.isOver ||= this.#size.isExceeded;
    if (this.isOver) throw new TracelessError('The execution is over.');
  }

  /** @throws GraphQLError if a non-null field has an error. */
  select(plan: SelectionPlan, source: unknown, path: Path | undefined): ObjectValue | Pending<ObjectValue> {
    this.#size.characters += plan.keysLength;
    this.assertRunning();
    const projected = plan.project(source, this.#size);
    const values: ObjectValue = projected ?? { ...plan.template };
    let pending: PendingValues<ObjectValue> | undefined;
    for (const field of projected ? plan.nonTextFields : plan.fields) {
      const value = this.execute(field, source, path);
      values[field.responseName] = value;
      if (!(value instanceof Pending)) continue;
      pending ??= new PendingValues(values);
      pending.waitFor(field.responseName, value);
    }
    return pending ?? values;
  }

  /** The field's completed value, which may be pending; null if an error makes it null. @throws GraphQLError. */
  execute(field: FieldPlan, source: unknown, parent?: Path): unknown {
    const path = pathOf(field, parent);
    try {
      return this.#settle(field.completion, this.#resolve(field, source, path), field, path);
    } catch (error) {
      return this.#handle(field.completion, error, field, path);
    }
  }

  /** Adds an error for a root field that will not run. */
  refuse(field: FieldPlan, reason: unknown): null {
    return this.#handle(field.completion, reason, field, pathOf(field));
  }

  #resolve(field: FieldPlan, source: unknown, path: Path): unknown {
    const resolve = field.resolve ?? (source as ObjectValue | undefined)?.[field.field.name];
    if (typeof resolve !== 'function') return resolve;
    const { contextValue, variableValues } = this.#args;
    const args = readArguments(field.field, field.nodes[0], variableValues);
    const info = this.createInfo(field, path);
    return field.resolve
      ? field.resolve(source, args, contextValue, info)
      : resolve.call(source, args, contextValue, info);
  }

  createInfo({ field, nodes, parentType }: FieldPlan, path: Path): GraphQLResolveInfo {
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
        return this.select(completion.selectionOf(completion.type), value, path);
      case 'abstract':
        return this.select(completion.selectionOf(this.#typeOf(completion.type, value, field, path)), value, path);
    }
  }

  #completeLeaf(type: GraphQLLeafType, value: unknown): unknown {
    const coerced: unknown = type.coerceOutputValue(value);
    if (coerced == null) throw new Error(`Expected \`${type.name}.coerceOutputValue\` to return non-nullable value.`);
    this.#size.addLeaf(coerced);
    return coerced;
  }

  #completeList(item: Completion, list: unknown, field: FieldPlan, path: Path): unknown[] | Pending<unknown[]> {
    if (!Array.isArray(list)) throw new GraphQLError(`Expected an array for field "${nameOf(field)}".`);
    const values: unknown[] = [];
    let pending: PendingValues<unknown[]> | undefined;
    try {
      for (let index = 0; index < list.length; index += 1) {
        this.assertRunning();
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
    this.#size.characters += values.length;
    return pending ?? values;
  }

  #typeOf(type: GraphQLAbstractType, value: unknown, field: FieldPlan, path: Path): GraphQLObjectType {
    const { schema, contextValue } = this.#args;
    const name = type.resolveType?.(value, contextValue, this.createInfo(field, path), type);
    const runtimeType = typeof name === 'string' ? schema.getType(name) : undefined;
    if (isObjectType(runtimeType) && schema.isSubType(type, runtimeType)) return runtimeType;
    throw new GraphQLError(`Abstract type "${type}" was resolved to "${name}", which is none of its object types.`);
  }

  /** Returns null for a nullable type; for a non-null type the error propagates to the parent. */
  #handle({ isNonNull }: Completion, error: unknown, field: FieldPlan, path: Path): null {
    if (this.isOver) return null;
    const located = locate(error, field, path);
    if (isNonNull) throw located;
    this.errors.add(located, path);
    return null;
  }
}

function getAbortSignal(): undefined {}

function getAsyncHelpers(): never {
  throw new Error('The executor does not track work that nothing waits for.');
}

function nameOf({ parentType, field }: FieldPlan): string {
  return `${parentType}.${field.name}`;
}

function isPromise(value: unknown): value is Promise<unknown> {
  return value instanceof Promise;
}
