import { type GraphQLSchema, OperationTypeNode } from 'graphql';
import type { Channel } from '../common/channel.ts';
import { LimitedQueue } from '../common/limited-queue.ts';
import type { Config } from '../config/config.ts';
import { ClientError } from '../errors.ts';
import { assertScope, assertSignedIn } from '../identity/access.ts';
import type { Viewer } from '../identity/viewer.ts';
import { type Answer, type AnsweredRequest, errorsOf, findClientError, requestError, toAnswer } from './answer.ts';
import { type CompiledOperation, type DocumentSource, Documents } from './documents/documents.ts';
import { findDeprecated } from './documents/selected-fields.ts';
import { type Caller, createInvalidDocumentLimit, type Rate, RateLimit, RateLimited } from './limits/rate.ts';
import type { RedisWindows } from './limits/redis-windows.ts';
import { type GraphQLRequest, Operation, type OperationParts, type PreparedOperation } from './operation.ts';
import type { Call } from './operation-reports.ts';

export interface EngineParts extends Omit<OperationParts, 'costlyOperations' | 'rateLimit' | 'config'> {
  schema: GraphQLSchema;
  documents: DocumentSource;
  /** Undefined if this node counts the rate by itself. */
  sharedRate?: RedisWindows | undefined;
  parent?: Channel | undefined;
  config: Pick<Config, 'limits' | 'introspection' | 'operationTimeoutMs' | 'rate' | 'authRequired'>;
}

/** @throws ClientError if it is not a GraphQL request. */
type ReadRequest = () => GraphQLRequest;

export type Engine = ReturnType<typeof createEngine>;

/** The costly operations that run at a time, because each may hold as much memory as the longest answer. */
const maxCostlyOperations = 4;
/** The variables of a subscription are held until it ends. */
const maxVariablesBytes = 4_096;

/** Creates the one pipeline for every transport: parse, validate, limits, execute. */
export function createEngine(parts: EngineParts) {
  const { config, log } = parts;
  const rateLimit = new RateLimit(config.rate, parts.sharedRate, parts.parent);
  const documents = new Documents(parts.schema, config, config.introspection);
  // A client that may not read the schema must not learn it from errors.
  const anonymousDocuments = config.authRequired ? new Documents(parts.schema, config, false) : documents;
  const invalidDocuments = config.rate.limit === 0 ? undefined : createInvalidDocumentLimit(config.rate);
  const costlyOperations = new LimitedQueue({ maxRunning: maxCostlyOperations });
  const operationParts = { ...parts, costlyOperations, rateLimit };

  function prepareRequest(request: GraphQLRequest, call: Call): PreparedOperation {
    if (call.report) call.report.requestedName = request.operationName;
    const source = parts.documents.find(request);
    const ownDocuments = call.viewer ? documents : anonymousDocuments;
    const isNew = !ownDocuments.has(source);
    // A new document opens a group, which is charged later.
    if (isNew && call.isResumed) rateLimit.assertNotOver(call);
    if (isNew) invalidDocuments?.assertNotPaused(call);
    try {
      const compiled = ownDocuments.compile(source, request.operationName);
      if (call.report) call.report.compiled = compiled;
      // It is charged below, but a caller that is over the rate must not have its variables read.
      if (call.isResumed && compiled.type !== OperationTypeNode.SUBSCRIPTION) rateLimit.assertNotOver(call);
      const operation = bind(compiled, request, call);
      parts.documents.cache(request);
      return operation;
    } catch (error) {
      if (isNew) invalidDocuments?.count(call, findClientError(errorsOf(error)[0])?.code);
      throw error;
    }
  }

  function bind(compiled: CompiledOperation, { variables, extensions }: GraphQLRequest, call: Call): PreparedOperation {
    assertAccess(compiled, call.viewer, config.authRequired);
    if (compiled.type === OperationTypeNode.SUBSCRIPTION) assertFewVariables(variables, compiled);
    const args = compiled.bind(variables);
    const cost = compiled.costOf(args);
    if (cost > config.limits.cost) {
      const message = `The operation costs ${cost}, more than ${config.limits.cost}.`;
      throw requestError('COST_LIMIT_EXCEEDED', message);
    }
    if (call.report) call.report.deprecated = findDeprecated(compiled.fields, variables);
    const showsCost = extensions?.['cost'] === true;
    return new Operation(operationParts, { compiled, args, cost, showsCost }, call);
  }

  /** A subscription that resumes is charged when it opens a group or is refused; any other operation before it runs. */
  async function prepareResumed(read: ReadRequest, call: Call): Promise<PreparedOperation> {
    try {
      const operation = prepareRequest(read(), call);
      if (operation.type !== OperationTypeNode.SUBSCRIPTION) call.rate = await rateLimit.chargeResumed(call);
      return operation;
    } catch (error) {
      if (!(error instanceof RateLimited)) call.rate = await rateLimit.chargeResumed(call);
      throw error;
    }
  }

  return {
    /**
     * Runs all checks of a request before its execution. `read` parses the request; a request that does not parse is
     * charged, too. A promise if nodes share the rate, or if the operation claims to resume. @throws the error that
     * refuses it.
     */
    prepare(read: ReadRequest, call: Call): PreparedOperation | Promise<PreparedOperation> {
      if (call.isResumed) return prepareResumed(read, call);
      const prepareCharged = (rate: Rate | undefined) => {
        call.rate = rate;
        return prepareRequest(read(), call);
      };
      const rate = rateLimit.charge(call);
      return rate instanceof Promise ? rate.then(prepareCharged) : prepareCharged(rate);
    },
    /** @throws RateLimited if this node knows that the caller is already over the rate. */
    assertNotOverRate: (caller: Caller) => rateLimit.assertNotOver(caller),
    /** The number of requests that the rate has refused. */
    countRateLimited: () => rateLimit.refused,
    /** Charges the address of a client whose credentials were refused, or that asks for a page. @throws RateLimited. */
    chargeAddress: async (address: string) => void (await rateLimit.charge({ viewer: null, address })),
    /** The answer for an error that refuses a request. Every refusal of every transport is formatted here. */
    refuse: (error: unknown, request: AnsweredRequest): Answer => toAnswer({ errors: errorsOf(error) }, request, log),
  };
}

function assertAccess({ type, isSigningIn }: CompiledOperation, viewer: Viewer | null, isRequired: boolean): void {
  if (isRequired && !isSigningIn) assertSignedIn(viewer);
  if (viewer) assertScope(viewer, type === OperationTypeNode.MUTATION ? 'WRITE' : 'READ');
}

/** The cursors of an inbox do not count, because they are not held. @throws ClientError VARIABLES_INVALID. */
function assertFewVariables(variables: GraphQLRequest['variables'], { resumeVariable = '' }: CompiledOperation): void {
  if (variables === undefined) return;
  const { [resumeVariable]: after, ...others } = variables;
  const bytes = Buffer.byteLength(JSON.stringify(Array.isArray(after) ? others : variables));
  if (bytes <= maxVariablesBytes) return;
  const message = `The variables of a subscription have ${bytes} bytes as JSON: at most ${maxVariablesBytes} are allowed.`;
  throw new ClientError('VARIABLES_INVALID', message);
}
