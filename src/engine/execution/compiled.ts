import {
  type ExecutionResult,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  type ValidatedExecutionArgs,
  type ValidatedSubscriptionArgs,
  visit,
} from 'graphql';
import { Execution, type ExecutionOptions } from './execution.ts';
import { Planner, type SelectionPlan } from './plan.ts';

/** The plans of one operation: one for each combination of the variables in its `@skip` and `@include`. */
interface CompiledOperation {
  conditions: readonly string[];
  plans: Map<string, SelectionPlan>;
}

const maxPlans = 16;
/**
 * A small document can spread its fragments to many fields, so the cache of plans is limited by the number of planned
 * fields.
 */
const maxPlannedFields = 100_000;

let compiled = new WeakMap<OperationDefinitionNode, CompiledOperation>();
let plannedFields = 0;

/**
 * Executes a validated operation by a plan that is created once for the operation. @throws the cancellation's reason,
 * if it is cancelled.
 */
export function executeCompiled(
  args: ValidatedExecutionArgs,
  options: ExecutionOptions = {},
): ExecutionResult | Promise<ExecutionResult> {
  return new Execution(args, options).run(() => findPlan(args));
}

/** Returns the stream of a subscription's root field, or a result with the errors. */
export async function subscribeCompiled(args: ValidatedSubscriptionArgs): Promise<unknown> {
  try {
    return await new Execution(args).subscribe(findPlan(args));
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    return { errors: [error] };
  }
}

/** @throws GraphQLError where a condition at the root is null. */
function findPlan(args: ValidatedExecutionArgs): SelectionPlan {
  if (plannedFields > maxPlannedFields) {
    compiled = new WeakMap();
    plannedFields = 0;
  }
  const { conditions, plans } = compiled.get(args.operation) ?? compile(args);
  const key = conditions.length === 0 ? '' : conditions.map((name) => args.variableValues.coerced[name]).join();
  const known = plans.get(key);
  if (known) return known;
  if (plans.size >= maxPlans) plans.clear();
  const plan = createPlan(args, conditions);
  plans.set(key, plan);
  return plan;
}

function createPlan(args: ValidatedExecutionArgs, names: readonly string[]): SelectionPlan {
  const { schema, operation, fragmentDefinitions: fragments, variableValues } = args;
  const type = schema.getRootType(operation.operation);
  if (!type) throw new Error(`The schema has no ${operation.operation}.`);
  // The plan outlives the request, so it must not hold the request's other variables.
  const conditions = Object.create(null);
  for (const name of names) if (name in variableValues.coerced) conditions[name] = variableValues.coerced[name];
  const onPlanned = (fieldCount: number) => {
    plannedFields += fieldCount;
  };
  return new Planner({ schema, fragments, conditions, onPlanned }).planSelection(type, [operation.selectionSet]);
}

function compile({ document, operation }: ValidatedExecutionArgs): CompiledOperation {
  const conditions = new Set<string>();
  visit(document, {
    Directive({ name, arguments: given = [] }) {
      if (name.value !== 'skip' && name.value !== 'include') return;
      for (const { value } of given) if (value.kind === Kind.VARIABLE) conditions.add(value.name.value);
    },
  });
  const made: CompiledOperation = { conditions: [...conditions], plans: new Map() };
  compiled.set(operation, made);
  return made;
}
