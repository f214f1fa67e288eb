import { type GraphQLSchema, OperationTypeNode } from 'graphql';
import type { Config } from '../config.ts';
import { ClientError } from '../errors.ts';
import { assertScope, assertSignedIn } from '../identity/access.ts';
import type { Viewer } from '../identity/viewer.ts';
import { type Answer, type AnsweredRequest, errorsOf, findClientError, requestError, toAnswer } from './answer.ts';
import type { CompiledOperation } from './documents/compiled-operation.ts';
import { Documents } from './documents/documents.ts';
import type { DocumentSource } from './documents/persisted.ts';
import { createPipeline } from './documents/pipeline.ts';
import type { SubscriptionTraits } from './documents/subscription-traits.ts';
import { Executor } from './execution/executor.ts';
import { CostlyOperations } from './limits/costly-operations.ts';
import { InvalidDocumentLimit } from './limits/invalid-documents.ts';
import { createRateLimit, type Rate, RateLimited, type SharedWindows } from './limits/rate.ts';
import { ResumedCharge } from './limits/resumed-charge.ts';
import { type Call, type GraphQLRequest, Operation, type OperationParts, type PreparedOperation } from './operation.ts';

export interface EngineParts extends Omit<OperationParts, 'costlyOperations' | 'executor' | 'rateLimit' | 'config'> {
  schema: GraphQLSchema;
  documents: DocumentSource;
  /** Undefined if this node counts the rate by itself. */
  sharedRate?: SharedWindows | undefined;
  /** Called for each request that the rate refuses. */
  onRateLimited?: () => void;
  config: Pick<Config, 'limits' | 'introspection' | 'operationTimeoutMs' | 'rate' | 'authRequired'>;
}

/** One pipeline for every transport: parse, validate, limits, execute. */
export interface Engine {
  /**
   * Runs all checks of a request before its execution. A promise if nodes share the rate, or if an operation that claims
   * to resume is refused. @throws the error that refuses it.
   */
  prepare(request: GraphQLRequest, call: Call): PreparedOperation | Promise<PreparedOperation>;
  /** Charges a request that was refused before it became an operation. @throws RateLimited. */
  chargeRefused(address: string): Promise<void>;
  /** The answer for an error that refuses a request. Every refusal of every transport is formatted here. */
  refuse(error: unknown, request: AnsweredRequest): Answer;
}

/** The variables of a subscription are held until it ends. */
const maxVariablesBytes = 4_096;

export function createEngine(parts: EngineParts): Engine {
  const { config, log } = parts;
  const rateLimit = createRateLimit({ ...config.rate, onRefused: parts.onRateLimited }, parts.sharedRate);
  const documents = new Documents(createPipeline(parts.schema, config), !config.introspection);
  const refusals = config.rate.limit === 0 ? undefined : new InvalidDocumentLimit(config.rate);
  const operationParts = { ...parts, rateLimit, executor: new Executor(), costlyOperations: new CostlyOperations() };

  function prepareOperation(source: string, request: GraphQLRequest, call: Call): PreparedOperation {
    const compiled = documents.find(source, request.operationName);
    if (call.report) call.report.compiled = compiled;
    assertAccess(compiled, call.viewer, config.authRequired);
    if (compiled.subscription) assertFewVariables(request.variables, compiled.subscription);
    const args = compiled.bind(request.variables);
    const cost = compiled.costOf(args);
    assertCost(cost, config.limits.cost);
    parts.documents.cache(request);
    if (call.report) call.report.deprecated = compiled.findDeprecated(request.variables);
    const showsCost = request.extensions?.['cost'] === true;
    return new Operation(operationParts, { compiled, args, cost, showsCost }, call);
  }

  /** Without the charge, except that a caller over the rate is refused before a new document is parsed. */
  function prepareUncharged(request: GraphQLRequest, call: Call): PreparedOperation {
    let isNew = false;
    try {
      const source = parts.documents.find(request);
      isNew = !documents.has(source);
      // A new document opens a group, which is charged later.
      if (isNew && call.isResumed) rateLimit.assertNotOver(call);
      if (isNew) refusals?.assertNotPaused(call);
      return prepareOperation(source, request, call);
    } catch (error) {
      if (call.report) call.report.requestedName = request.operationName;
      if (isNew) refusals?.count(call, findClientError(errorsOf(error)[0])?.code);
      throw error;
    }
  }

  /** A subscription that resumes is charged when it opens a group or is refused; any other operation at once. */
  async function prepareResumed(request: GraphQLRequest, call: Call): Promise<PreparedOperation> {
    const resumed = new ResumedCharge(rateLimit, call);
    try {
      const prepared = prepareUncharged(request, call);
      if (prepared.type !== OperationTypeNode.SUBSCRIPTION) call.rate = await resumed.charge();
      return prepared;
    } catch (error) {
      if (error instanceof RateLimited) throw error;
      throw (await resumed.chargeRefused()) ?? error;
    }
  }

  function prepareCharged(rate: Rate | undefined, request: GraphQLRequest, call: Call): PreparedOperation {
    call.rate = rate;
    return prepareUncharged(request, call);
  }

  return {
    prepare(request, call) {
      if (call.isResumed) return prepareResumed(request, call);
      const rate = rateLimit.charge(call);
      if (rate instanceof Promise) return rate.then((charged) => prepareCharged(charged, request, call));
      return prepareCharged(rate, request, call);
    },
    async chargeRefused(address) {
      await rateLimit.charge({ viewer: null, address });
    },
    refuse: (error, request) => toAnswer({ errors: errorsOf(error) }, request, log),
  };
}

function assertAccess({ type, isSigningIn }: CompiledOperation, viewer: Viewer | null, isRequired: boolean): void {
  if (isRequired && !isSigningIn) assertSignedIn(viewer);
  if (viewer) assertScope(viewer, type === OperationTypeNode.MUTATION ? 'WRITE' : 'READ');
}

/** The cursors of an inbox do not count, because they are not held. @throws ClientError VARIABLES_INVALID. */
function assertFewVariables(variables: GraphQLRequest['variables'], { resumeVariable = '' }: SubscriptionTraits): void {
  if (variables === undefined) return;
  const { [resumeVariable]: after, ...others } = variables;
  const bytes = Buffer.byteLength(JSON.stringify(Array.isArray(after) ? others : variables));
  if (bytes <= maxVariablesBytes) return;
  const message = `The variables of a subscription have ${bytes} bytes as JSON: at most ${maxVariablesBytes} are allowed.`;
  throw new ClientError('VARIABLES_INVALID', message);
}

/** @throws GraphQLError COST_LIMIT_EXCEEDED. */
function assertCost(cost: number, limit: number): void {
  if (cost > limit) throw requestError('COST_LIMIT_EXCEEDED', `The operation costs ${cost}, more than ${limit}.`);
}
