import {
  type DocumentNode,
  type ExecutionResult,
  OperationTypeNode,
  type ValidatedExecutionArgs,
  type ValidatedSubscriptionArgs,
} from 'graphql';
import type { Config } from '../config.ts';
import type { Db } from '../data/database.ts';
import { ClientError } from '../errors.ts';
import type { FanOut } from '../live/fan-out.ts';
import { Subscriber } from '../live/subscriber.ts';
import type { Log } from '../log.ts';
import { RoomStream } from '../resolvers/room-stream.ts';
import { type Answer, type AnswerOptions, toAnswer } from './answer.ts';
import { type CachePolicy, findCachePolicy } from './cache-control.ts';
import type { Cancellation } from './cancellation.ts';
import { OperationContext, type Services } from './context.ts';
import { executeCompiled, subscribeCompiled } from './execution/compiled.ts';
import { selectsPostBody } from './execution/post-body.ts';
import { selectsRoomCursor } from './execution/room-cursor.ts';
import { AnswerSize, answerTooLong } from './limits/answer-size.ts';
import { type CostlyOperations, costlyFrom } from './limits/costly-operations.ts';
import type { Caller, ChargeRate, Rate } from './limits/rate.ts';
import { ResumedCharge } from './limits/resumed-charge.ts';
import type { ClientAccount } from './limits/retained.ts';
import type { DocumentReference } from './persisted.ts';
import { errorsOf, type ValidatedRequest } from './request-validation.ts';
import { createSubscribeRequest } from './subscription.ts';

/** The parts of the server that operations use. */
export interface OperationParts {
  services: Services;
  fanOut: FanOut;
  costlyOperations: CostlyOperations;
  config: Pick<Config, 'limits' | 'operationTimeoutMs'>;
  log: Log;
}

export interface OperationServices extends OperationParts {
  chargeRate: ChargeRate;
}

/** A well-formed GraphQL request. */
export interface GraphQLRequest extends DocumentReference {
  operationName: string | undefined;
  variables: Record<string, unknown> | undefined;
  /** `cost: true` requests the cost of the operation in the answer's extensions. */
  extensions: Record<string, unknown> | undefined;
}

/** The caller of an operation, and the facts of its request that the answer depends on. */
export interface Call extends Caller {
  /** A subscription that resumes in an existing group is not charged to the rate, unless it is refused. */
  isResumed?: boolean;
  requestId: string;
  /** Cancelled when the client has left, or the operation has taken too long. */
  cancellation: Cancellation;
}

/** An operation that passed every check and has not run yet. */
export interface PreparedOperation {
  type: OperationTypeNode;
  document: DocumentNode;
  operationName: string | undefined;
  execute(): Answer | Promise<Answer>;
  /** The answer that replaces one that cannot be sent. It states whether something was committed. */
  refuse(error: ClientError): Answer;
  /** How long the answer may be cached, and whether in shared caches; known after the operation has run. */
  readonly cachePolicy: CachePolicy;
  /**
   * Opens the subscription's stream, or returns the answer with its errors. The stream is charged to `account` until it
   * ends. The option `after` takes precedence over the operation's own argument. `onFound` is called as soon as the
   * stream's position is known: all events written from then on come after this position.
   */
  subscribe(options: SubscribeOptions): Promise<Subscriber | Answer>;
}

export interface SubscribeOptions {
  account: ClientAccount;
  after?: string | undefined;
  onFound?: () => void;
}

/** One operation that passed every check. */
export class Operation implements PreparedOperation {
  readonly type: OperationTypeNode;
  readonly document: DocumentNode;
  readonly operationName: string | undefined;
  readonly #parts: OperationServices;
  readonly #validated: ValidatedExecutionArgs;
  readonly #cost: number;
  /** The answer's extensions, if the request asks for them. */
  readonly #extensions: { cost: { requested: number; maximum: number } } | undefined;
  readonly #call: Call;
  readonly #isCostly: boolean;
  readonly #size: AnswerSize;
  readonly #answerOptions: AnswerOptions;
  readonly #resumed: ResumedCharge | undefined;
  #context: OperationContext | undefined;

  constructor(
    parts: OperationServices,
    { args, cost }: ValidatedRequest,
    request: GraphQLRequest,
    call: Call,
    rate: Rate | undefined,
  ) {
    this.type = args.operation.operation;
    this.document = args.document;
    this.operationName = args.operation.name?.value;
    this.#parts = parts;
    this.#validated = args;
    this.#cost = cost;
    const asksForCost = request.extensions?.['cost'] === true;
    this.#extensions = asksForCost ? { cost: { requested: cost, maximum: parts.config.limits.cost } } : undefined;
    this.#call = call;
    this.#resumed = call.isResumed ? new ResumedCharge(parts.chargeRate, call) : undefined;
    this.#isCostly = cost > costlyFrom;
    this.#size = new AnswerSize(parts.config.limits.answerBytes);
    this.#answerOptions = { requestId: call.requestId, log: parts.log, rate };
  }

  execute(): Answer | Promise<Answer> {
    try {
      const result = this.#isCostly ? this.#executeInTurn() : this.#execute();
      return result instanceof Promise ? this.#inTime(result) : this.#answer(result);
    } catch (error) {
      return this.#refuse(error);
    }
  }

  refuse(error: ClientError): Answer {
    return this.#toAnswer({ errors: [error] });
  }

  get cachePolicy(): CachePolicy {
    const policy = findCachePolicy(this.#validated);
    return this.#context?.hasAskedForViewer ? { ...policy, isPublic: false } : policy;
  }

  async subscribe(options: SubscribeOptions): Promise<Subscriber | Answer> {
    let subscriber: Subscriber | undefined;
    const open = async () => {
      const opened = await this.#subscribe(options);
      if (!(opened instanceof Subscriber)) return opened;
      subscriber = opened;
      return {};
    };
    const answer = await this.#inTime(open());
    const limited = subscriber ? undefined : this.#resumed?.chargeRefused();
    return subscriber ?? (limited ? this.#toAnswer({ errors: [limited] }) : answer);
  }

  async #subscribe({ account, after, onFound }: SubscribeOptions): Promise<Subscriber | ExecutionResult> {
    const { services } = this.#parts;
    const { viewer, address } = this.#call;
    const contextValue = new OperationContext(services, viewer, { address });
    const validated = this.#validated as ValidatedSubscriptionArgs;
    const source = await subscribeCompiled({ ...validated, contextValue });
    if (!(source instanceof RoomStream)) return source as ExecutionResult;
    onFound?.();
    const onLeave = account.holdSubscription(validated.document, validated.variableValues.coerced);
    try {
      return await this.#follow(source, after, onLeave);
    } catch (error) {
      onLeave();
      throw error;
    }
  }

  async #follow(source: RoomStream, after: string | undefined, onLeave: () => void): Promise<Subscriber> {
    const { services, fanOut, config } = this.#parts;
    const { viewer, address, cancellation } = this.#call;
    const validated = this.#validated as ValidatedSubscriptionArgs;
    const live = {
      validated,
      services,
      viewer,
      address,
      cost: this.#cost,
      answerBytes: config.limits.answerBytes,
      onLeave,
      answerOptions: this.#answerOptions,
    };
    const request = createSubscribeRequest(live, source, after);
    const subscribing = fanOut.subscribe(request, this.#resumed?.charge);
    return cancellation.race(subscribing, { dispose: (subscriber) => subscriber.leave() });
  }

  /** An operation that is cancelled while it waits is answered at once, and never runs. */
  #executeInTurn(): Promise<ExecutionResult> {
    const { viewer, address, cancellation } = this.#call;
    const running = this.#parts.costlyOperations.run(viewer?.user.id ?? address, () => {
      cancellation.throwIfCancelled();
      return this.#execute();
    });
    return cancellation.race(running);
  }

  #execute(): ExecutionResult | Promise<ExecutionResult> {
    const { database } = this.#parts.services;
    if (!selectsRoomCursor(this.#validated)) return this.#run(database.db);
    if (this.type === OperationTypeNode.QUERY) return database.snapshot(async (db) => this.#run(db));
    return database.keepSnapshot(async (past) => this.#run(database.db, past));
  }

  #run(db: Db, past?: Db): ExecutionResult | Promise<ExecutionResult> {
    const { viewer, address, cancellation } = this.#call;
    const readsBodies = selectsPostBody(this.#validated);
    const options = { address, db, past, cancellation, readsBodies };
    const contextValue = new OperationContext(this.#parts.services, viewer, options);
    this.#context = contextValue;
    return executeCompiled(
      { ...this.#validated, contextValue },
      { cancellation, size: this.#size, isSerial: this.#isCostly },
    );
  }

  /** Cancels the operation when the timeout expires. */
  async #inTime(result: Promise<ExecutionResult>): Promise<Answer> {
    const { cancellation } = this.#call;
    const timer = setTimeout(() => cancellation.cancel(tookTooLong()), this.#parts.config.operationTimeoutMs);
    try {
      return this.#answer(await result);
    } catch (error) {
      return this.#refuse(error);
    } finally {
      clearTimeout(timer);
    }
  }

  #answer(result: ExecutionResult): Answer {
    const answer = this.#toAnswer(this.#extensions ? { ...result, extensions: this.#extensions } : result);
    const { limit, characters, isSurelyShort, isExceeded } = this.#size;
    if (!isExceeded) answer.length = characters;
    if (isSurelyShort && !result.errors) return answer;
    const json = JSON.stringify(answer.body);
    if (Buffer.byteLength(json) <= limit) return { ...answer, json };
    return this.#toAnswer({ errors: [answerTooLong(limit, this.type)] });
  }

  #refuse(error: unknown): Answer {
    const { isCancelled, reason } = this.#call.cancellation;
    return this.#toAnswer({ errors: errorsOf(isCancelled ? reason : error) });
  }

  #toAnswer(outcome: Parameters<typeof toAnswer>[0]): Answer {
    const { hasCommitted } = this.#call.cancellation;
    return toAnswer(outcome, hasCommitted ? { ...this.#answerOptions, hasCommitted } : this.#answerOptions);
  }
}

function tookTooLong(): ClientError {
  return new ClientError('SERVICE_UNAVAILABLE', 'The operation took too long.');
}
