import {
  createSourceEventStream,
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  OperationTypeNode,
  type ValidatedExecutionArgs,
  type ValidatedSubscriptionArgs,
  validateExecutionArgs,
} from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import type { Config } from '../config.ts';
import type { Db } from '../data/database.ts';
import { ClientError } from '../errors.ts';
import type { Viewer } from '../identity/viewer.ts';
import type { FanOut } from '../live/fan-out.ts';
import type { Subscriber } from '../live/subscriber.ts';
import type { Log } from '../log.ts';
import { RoomStream } from '../resolvers/room-stream.ts';
import { type Answer, type AnswerOptions, requestError, toAnswer } from './answer.ts';
import { OperationContext, type Services } from './context.ts';
import { useDocuments } from './documents.ts';
import { executeCompiled } from './execution/compiled.ts';
import { type CostCheck, createCostCheck } from './limits/cost.ts';
import { createDepthCheck } from './limits/depth.ts';
import { createDocumentCheck, createSourceCheck } from './limits/document.ts';
import { createRateLimit, type Rate } from './limits/rate.ts';
import { createSubscribeRequest } from './live-selection.ts';
import { selectsRoomCursor } from './room-cursor.ts';

export interface EngineParts {
  schema: GraphQLSchema;
  services: Services;
  fanOut: FanOut;
  config: Pick<Config, 'limits' | 'introspection' | 'operationTimeoutMs' | 'rate'>;
  log: Log;
}

/** A well-formed GraphQL request. */
export interface GraphQLRequest {
  query: string;
  operationName: string | undefined;
  variables: Record<string, unknown> | undefined;
}

/** Who sent it, and what its answer goes by. */
export interface Call {
  viewer: Viewer | null;
  /** Where it came from, for those without credentials. */
  address: string;
  /** A subscription that goes on is not charged to the rate. */
  isResumed?: boolean;
  requestId: string;
  /** Aborted when the client has left, or the operation has taken too long. */
  abort: AbortController;
}

/** An operation that passed every check; nothing of it has run. */
export interface PreparedOperation {
  type: OperationTypeNode;
  document: DocumentNode;
  operationName: string | undefined;
  execute(): Promise<Answer>;
  /** A subscription's stream, or why there is none; `after` wins over the operation's own argument. */
  subscribe(after?: string): Promise<Subscriber | Answer>;
}

/** One pipeline for every transport: parse, validate, limits, execute. */
export interface Engine {
  prepare(request: GraphQLRequest, call: Call): Promise<PreparedOperation | Answer>;
  /** An error outside any operation, as an operation's would read. */
  refuse(error: unknown, requestId: string): Answer;
}

export function isAnswer(value: object): value is Answer {
  return 'status' in value && 'body' in value;
}

export function createEngine(parts: EngineParts): Engine {
  const { schema, config, log } = parts;
  const chargeRate = createRateLimit(config.rate);
  const checkCost = createCostCheck(schema, config.limits.cost);
  const pipeline = createYoga({
    schema,
    logging: false,
    maskedErrors: false,
    parserAndValidationCache: false,
    plugins: [
      useDocuments({
        introspection: config.introspection,
        checkSource: createSourceCheck(config.limits),
        checks: [createDocumentCheck(config.limits), createDepthCheck(config.limits)],
      }),
      useValidatedExecution(),
    ],
  });
  return {
    async prepare(request, call) {
      const enveloped = pipeline.getEnveloped();
      let rate: Rate | undefined;
      try {
        if (!call.isResumed) rate = await chargeRate(callerOf(call));
        const validated = validateOperation(enveloped, request, call, { checkCost, ...config });
        const isStream = validated.operation.operation === OperationTypeNode.SUBSCRIPTION;
        if (call.isResumed && !isStream) rate = await chargeRate(callerOf(call));
        return new Operation(parts, enveloped, validated, call, rate);
      } catch (error) {
        return toAnswer({ errors: errorsOf(error) }, { requestId: call.requestId, log, rate });
      }
    },
    refuse: (error, requestId) => toAnswer({ errors: errorsOf(error) }, { requestId, log }),
  };
}

function callerOf({ viewer, address }: Call): string {
  return viewer ? `user ${viewer.user.id}` : `address ${address}`;
}

type Enveloped = ReturnType<ReturnType<typeof createYoga>['getEnveloped']>;

/** The checks have coerced the variables already: graphql's own entry points would do it again. */
function useValidatedExecution(): Plugin {
  return {
    onExecute: ({ setExecuteFn }) => setExecuteFn((args) => executeCompiled(args as unknown as ValidatedExecutionArgs)),
    onSubscribe: ({ setSubscribeFn }) =>
      setSubscribeFn((args) => createSourceEventStream(args as unknown as ValidatedSubscriptionArgs)),
  };
}

/** Everything that can be said against a request before it runs. @throws GraphQLError, ClientError or RequestErrors. */
function validateOperation(
  { parse, validate, schema }: Enveloped,
  { query, operationName, variables }: GraphQLRequest,
  { abort }: Call,
  { checkCost, introspection }: { checkCost: CostCheck; introspection: boolean },
): ValidatedExecutionArgs {
  const document = parse(query);
  const errors: readonly GraphQLError[] = validate(schema, document);
  if (errors.length > 0) throw new RequestErrors(errors);
  const operation = getOperationAST(document, operationName);
  if (!operation) throw requestError('OPERATION_NOT_FOUND');
  const validated = validateExecutionArgs({
    schema,
    document,
    operationName,
    variableValues: variables,
    hideSuggestions: !introspection,
    // A stream outlives its request; it ends by leaving.
    abortSignal: operation.operation === 'subscription' ? undefined : abort.signal,
    options: { maxCoercionErrors: 10 },
  });
  if (!('schema' in validated)) {
    throw new RequestErrors(validated.map((error) => requestError('VARIABLES_INVALID', undefined, error)));
  }
  checkCost(validated);
  return validated;
}

/** Several errors of one request. */
class RequestErrors extends Error {
  readonly errors: readonly GraphQLError[];

  constructor(errors: readonly GraphQLError[]) {
    super('The request has errors.');
    this.errors = errors;
  }
}

function errorsOf(error: unknown): readonly GraphQLError[] {
  if (error instanceof RequestErrors) return error.errors;
  return [error instanceof GraphQLError ? error : new GraphQLError('', { cause: error })];
}

class Operation implements PreparedOperation {
  readonly type: OperationTypeNode;
  readonly document: DocumentNode;
  readonly operationName: string | undefined;
  readonly #parts: EngineParts;
  readonly #enveloped: Enveloped;
  readonly #validated: ValidatedExecutionArgs;
  readonly #call: Call;
  readonly #answerOptions: AnswerOptions;

  constructor(
    parts: EngineParts,
    enveloped: Enveloped,
    validated: ValidatedExecutionArgs,
    call: Call,
    rate: Rate | undefined,
  ) {
    this.type = validated.operation.operation;
    this.document = validated.document;
    this.operationName = validated.operation.name?.value;
    this.#parts = parts;
    this.#enveloped = enveloped;
    this.#validated = validated;
    this.#call = call;
    this.#answerOptions = { requestId: call.requestId, log: parts.log, rate };
  }

  async execute(): Promise<Answer> {
    const { database } = this.#parts.services;
    const isSnapshot = this.type === 'query' && selectsRoomCursor(this.#validated);
    return this.#answer(() => (isSnapshot ? database.snapshot((db) => this.#run(db)) : this.#run(database.db)));
  }

  async subscribe(after?: string): Promise<Subscriber | Answer> {
    const { services, fanOut } = this.#parts;
    const { viewer } = this.#call;
    const contextValue = new OperationContext(services, viewer);
    const validated = this.#validated as ValidatedSubscriptionArgs;
    let subscriber: Subscriber | undefined;
    const answer = await this.#answer(async () => {
      const source: unknown = await this.#enveloped.subscribe({ ...validated, contextValue });
      if (!(source instanceof RoomStream)) return source as ExecutionResult;
      const live = { validated, services, viewer, answerOptions: this.#answerOptions };
      subscriber = await fanOut.subscribe(createSubscribeRequest(live, source, after));
      return {};
    });
    return subscriber ?? answer;
  }

  #run(db: Db): Promise<ExecutionResult> {
    const contextValue = new OperationContext(this.#parts.services, this.#call.viewer, db);
    return this.#enveloped.execute({ ...this.#validated, contextValue });
  }

  /** What `work` results in, or why it did not; it may not take forever. */
  async #answer(work: () => Promise<ExecutionResult>): Promise<Answer> {
    const { abort } = this.#call;
    const tooLong = new ClientError('SERVICE_UNAVAILABLE', 'The operation took too long.');
    const timer = setTimeout(() => abort.abort(tooLong), this.#parts.config.operationTimeoutMs);
    try {
      return toAnswer(await work(), this.#answerOptions);
    } catch (error) {
      return toAnswer({ errors: errorsOf(abort.signal.aborted ? abort.signal.reason : error) }, this.#answerOptions);
    } finally {
      clearTimeout(timer);
    }
  }
}
