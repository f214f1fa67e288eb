import {
  defaultFieldResolver,
  type ExecutionResult,
  executeRootSelectionSet,
  Kind,
  type OperationDefinitionNode,
  type ValidatedExecutionArgs,
  visit,
} from 'graphql';
import { Execution } from './execution.ts';
import { Planner, type SelectionPlan } from './plan.ts';

/** Plans of one operation: one for each outcome of the variables in its `@skip` and `@include`. */
interface CompiledOperation {
  conditions: readonly string[];
  plans: Map<string, SelectionPlan>;
}

const maxPlans = 16;
/** A small document can spread its fragments out to many fields: what is kept is bounded by what was planned. */
const maxPlannedFields = 200_000;

let compiled = new WeakMap<OperationDefinitionNode, CompiledOperation>();
let plannedFields = 0;

/** Executes a validated operation by a plan that is made once for its document. */
export function executeCompiled(args: ValidatedExecutionArgs): ExecutionResult | Promise<ExecutionResult> {
  const plan = isPlain(args) ? findPlan(args) : undefined;
  return plan ? new Execution(args).run(plan) : executeRootSelectionSet(args);
}

/** What the engine never asks for is not compiled. */
function isPlain({ schema, errorPropagation, fieldResolver, hooks }: ValidatedExecutionArgs): boolean {
  const isIncremental = schema.getDirective('defer') ?? schema.getDirective('stream');
  return errorPropagation && fieldResolver === defaultFieldResolver && !hooks && !isIncremental;
}

function findPlan(args: ValidatedExecutionArgs): SelectionPlan | undefined {
  if (plannedFields > maxPlannedFields) {
    compiled = new WeakMap();
    plannedFields = 0;
  }
  const operation = compiled.get(args.operation) ?? compile(args);
  compiled.set(args.operation, operation);
  return operation.conditions.length === 0
    ? findPlanFor('', new Map(), operation, args)
    : findConditionalPlan(operation, args);
}

function findConditionalPlan(operation: CompiledOperation, args: ValidatedExecutionArgs): SelectionPlan | undefined {
  const conditions = new Map<string, boolean>();
  let key = '';
  for (const name of operation.conditions) {
    const value = args.variableValues.coerced[name];
    // A nullable variable with a default, given as null: an error of the field that asks for it.
    if (typeof value !== 'boolean') return undefined;
    conditions.set(name, value);
    key += value ? '1' : '0';
  }
  return findPlanFor(key, conditions, operation, args);
}

function findPlanFor(
  key: string,
  conditions: ReadonlyMap<string, boolean>,
  { plans }: CompiledOperation,
  args: ValidatedExecutionArgs,
): SelectionPlan {
  const known = plans.get(key);
  if (known) return known;
  if (plans.size >= maxPlans) plans.clear();
  const plan = createPlan(args, conditions);
  plans.set(key, plan);
  return plan;
}

function createPlan(
  { schema, operation, fragmentDefinitions: fragments }: ValidatedExecutionArgs,
  conditions: ReadonlyMap<string, boolean>,
): SelectionPlan {
  const type = schema.getRootType(operation.operation);
  if (!type) throw new Error(`The schema has no ${operation.operation}.`);
  const onPlanned = (fieldCount: number) => {
    plannedFields += fieldCount;
  };
  return new Planner({ schema, fragments, conditions, onPlanned }).planSelection(type, [operation.selectionSet]);
}

function compile({ document }: ValidatedExecutionArgs): CompiledOperation {
  const conditions = new Set<string>();
  visit(document, {
    Directive({ name, arguments: given = [] }) {
      if (name.value !== 'skip' && name.value !== 'include') return;
      for (const { value } of given) if (value.kind === Kind.VARIABLE) conditions.add(value.name.value);
    },
  });
  return { conditions: [...conditions], plans: new Map() };
}
