import { type ExecutionResult, Kind, type OperationDefinitionNode, type ValidatedExecutionArgs, visit } from 'graphql';
import { Execution, type ExecutionOptions } from './execution.ts';
import { Planner, type SelectionPlan } from './plan.ts';

/** The plans of one operation: one for each combination of the variables in its `@skip` and `@include`. */
interface Plans {
  conditions: readonly string[];
  byConditions: Map<string, SelectionPlan>;
}

const maxPlans = 16;
/** A small document can spread fragments to many fields: the planned fields of all operations are limited together. */
const maxPlannedFields = 100_000;

/** Executes validated operations by plans, each of which is created once. */
export class Executor {
  /** The plans are here and not in the compiled operations, because all of them are dropped at once. */
  #plans = new WeakMap<OperationDefinitionNode, Plans>();
  #plannedFields = 0;

  /** @throws the cancellation's reason, if it is cancelled. */
  execute(args: ValidatedExecutionArgs, options: ExecutionOptions = {}): ExecutionResult | Promise<ExecutionResult> {
    return new Execution(args, options).run(() => this.#findPlan(args));
  }

  /** Returns what the resolver of a subscription's root field returns. @throws GraphQLError. */
  subscribe(args: ValidatedExecutionArgs): Promise<unknown> {
    return new Execution(args).subscribe(this.#findPlan(args));
  }

  /** @throws GraphQLError where a condition at the root is null. */
  #findPlan(args: ValidatedExecutionArgs): SelectionPlan {
    if (this.#plannedFields > maxPlannedFields) {
      this.#plans = new WeakMap();
      this.#plannedFields = 0;
    }
    let plans = this.#plans.get(args.operation);
    if (!plans) {
      plans = { conditions: findConditions(args), byConditions: new Map() };
      this.#plans.set(args.operation, plans);
    }
    const { conditions, byConditions } = plans;
    const key = conditions.length === 0 ? '' : conditions.map((name) => args.variableValues.coerced[name]).join();
    let plan = byConditions.get(key);
    if (!plan) {
      if (byConditions.size >= maxPlans) byConditions.clear();
      plan = this.#createPlan(args, conditions);
      byConditions.set(key, plan);
    }
    return plan;
  }

  #createPlan(args: ValidatedExecutionArgs, names: readonly string[]): SelectionPlan {
    const { schema, operation, fragmentDefinitions: fragments, variableValues } = args;
    const type = schema.getRootType(operation.operation);
    if (!type) throw new Error(`The schema has no ${operation.operation}.`);
    // The plan outlives the request, so it must not hold the request's other variables.
    const conditions = Object.create(null);
    for (const name of names) if (name in variableValues.coerced) conditions[name] = variableValues.coerced[name];
    const onPlanned = (fieldCount: number) => {
      this.#plannedFields += fieldCount;
    };
    return new Planner({ schema, fragments, conditions, onPlanned }).planSelection(type, [operation.selectionSet]);
  }
}

/** The names of the variables that decide which fields are selected. */
function findConditions({ document }: ValidatedExecutionArgs): string[] {
  const conditions = new Set<string>();
  visit(document, {
    Directive({ name, arguments: given = [] }) {
      if (name.value !== 'skip' && name.value !== 'include') return;
      for (const { value } of given) if (value.kind === Kind.VARIABLE) conditions.add(value.name.value);
    },
  });
  return [...conditions];
}
