import { type ExecutionResult, Kind, type OperationDefinitionNode, type ValidatedExecutionArgs, visit } from 'graphql';
import { LRUCache } from 'lru-cache';
import { Execution } from './execution.ts';
import { Planner, type SelectionPlan } from './plan.ts';

/** Plans of one operation: one for each outcome of the variables in its `@skip` and `@include`. */
interface CompiledOperation {
  conditions: readonly string[];
  plans: LRUCache<string, SelectionPlan>;
}

const maxPlans = 16;
const compiled = new WeakMap<OperationDefinitionNode, CompiledOperation>();

/** Executes a validated operation by a plan that is made once for its document. */
export function executeCompiled(args: ValidatedExecutionArgs): ExecutionResult | Promise<ExecutionResult> {
  const known = compiled.get(args.operation) ?? compile(args);
  compiled.set(args.operation, known);
  const key = known.conditions.map((name) => (args.variableValues.coerced[name] === true ? '1' : '0')).join('');
  const plan = known.plans.get(key) ?? createPlan(args);
  known.plans.set(key, plan);
  return new Execution(args).run(plan);
}

function createPlan({ schema, operation, fragmentDefinitions, variableValues }: ValidatedExecutionArgs): SelectionPlan {
  const type = schema.getRootType(operation.operation);
  if (!type) throw new Error(`The schema has no ${operation.operation}.`);
  const planner = new Planner({ schema, fragments: fragmentDefinitions, conditions: variableValues.coerced });
  return planner.planSelection(type, [operation.selectionSet]);
}

function compile({ document }: ValidatedExecutionArgs): CompiledOperation {
  const conditions = new Set<string>();
  visit(document, {
    Directive({ name, arguments: given = [] }) {
      if (name.value !== 'skip' && name.value !== 'include') return;
      for (const { value } of given) if (value.kind === Kind.VARIABLE) conditions.add(value.name.value);
    },
  });
  return { conditions: [...conditions], plans: new LRUCache({ max: maxPlans }) };
}
