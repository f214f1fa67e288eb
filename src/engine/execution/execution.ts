import {
  type ExecutionResult,
  type GraphQLError,
  locatedError,
  OperationTypeNode,
  type ValidatedExecutionArgs,
} from 'graphql';
import type { Cancellation } from '../../common/cancellation.ts';
import { yieldWhenDue } from '../../common/event-loop.ts';
import { AnswerSize, answerTooLong, payloadTooLong } from '../limits/answer-size.ts';
import { locate, pathOf } from './field-errors.ts';
import { FieldExecutor, type ObjectValue } from './field-executor.ts';
import { Pending } from './pending.ts';
import { type FieldPlan, readArguments, type SelectionPlan } from './plan.ts';

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
 * (https://spec.graphql.org/September2026/#sec-Execution), for resolvers that return values, arrays and promises of them.
 */
export class Execution {
  readonly #args: ValidatedExecutionArgs;
  readonly #fields: FieldExecutor;
  readonly #cancellation: Cancellation | undefined;
  readonly #size: AnswerSize;
  readonly #isSerial: boolean;
  /** In a serial execution, the root field that runs or that ran last. */
  #rootField: FieldPlan | undefined;

  constructor(args: ValidatedExecutionArgs, { cancellation, size, isSerial = false }: ExecutionOptions = {}) {
    this.#args = args;
    this.#cancellation = cancellation;
    this.#size = size ?? new AnswerSize(Number.POSITIVE_INFINITY);
    this.#fields = new FieldExecutor(args, this.#size);
    this.#isSerial = isSerial || args.operation.operation === OperationTypeNode.MUTATION;
  }

  /** @throws the cancellation's reason, if it is cancelled. */
  run(findPlan: () => SelectionPlan): ExecutionResult | Promise<ExecutionResult> {
    this.#cancellation?.throwIfCancelled();
    try {
      const root = findPlan();
      if (this.#isSerial) [this.#rootField] = root.fields;
      const data = this.#isSerial && root.fields.length > 1 ? this.#selectSerially(root) : this.#select(root);
      if (!(data instanceof Promise)) return this.#respond(data);
      const result = data.then(
        (value) => this.#respond(value),
        (error) => this.#fail(error),
      );
      // A resolver that hangs does not delay the answer to a cancelled operation.
      const onCancel = () => {
        this.#fields.isOver = true;
      };
      return this.#cancellation?.race(result, { onCancel }) ?? result;
    } catch (error) {
      return this.#fail(error);
    }
  }

  /** The stream of a subscription's root field. @throws GraphQLError if there is none. */
  async subscribe({ fields: [plan] }: SelectionPlan): Promise<unknown> {
    if (!plan?.field.subscribe) throw new Error('The subscription has no source.');
    const path = pathOf(plan);
    try {
      const { rootValue, contextValue, variableValues } = this.#args;
      const args = readArguments(plan.field, plan.nodes[0], variableValues);
      return await plan.field.subscribe(rootValue, args, contextValue, this.#fields.createInfo(plan, path));
    } catch (error) {
      throw locate(error, plan, path);
    }
  }

  #select(plan: SelectionPlan): ObjectValue | Promise<ObjectValue> {
    const values = this.#fields.select(plan, this.#args.rootValue, undefined);
    return values instanceof Pending ? values.toPromise() : values;
  }

  /** Executes each root field after the field before it has settled. */
  async #selectSerially(plan: SelectionPlan): Promise<ObjectValue> {
    const values: ObjectValue = { ...plan.template };
    this.#size.characters += plan.keysLength;
    for (const [index, field] of plan.fields.entries()) {
      if (index > 0) await yieldWhenDue();
      this.#fields.assertRunning();
      this.#rootField = field;
      values[field.responseName] = await this.#executeRootField(field);
    }
    return values;
  }

  #executeRootField(field: FieldPlan): unknown {
    if (this.#cancellation?.isCancelled) return this.#fields.refuse(field, this.#cancellation.reason);
    const value = this.#fields.execute(field, this.#args.rootValue);
    return value instanceof Pending ? value.toPromise() : value;
  }

  #fail(error: unknown): ExecutionResult {
    // An error that reaches this line came from a field or from a condition.
    if (!this.#fields.isOver) this.#fields.errors.all.push(error as GraphQLError);
    return this.#respond(null);
  }

  #respond(data: ObjectValue | null): ExecutionResult {
    if (!this.#cancellation?.hasCommitted) this.#cancellation?.throwIfCancelled();
    this.#fields.isOver = true;
    if (this.#size.isExceeded) return this.#refuseTooLong();
    const errors = this.#fields.errors.all;
    return errors.length > 0 ? { errors, data } : { data };
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
    return { errors: [...this.#fields.errors.all, error], data: null };
  }
}
