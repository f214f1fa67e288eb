import { type ExecutionResult, OperationTypeNode, type ValidatedExecutionArgs } from 'graphql';
import type { Cancellation } from '../common/cancellation.ts';
import type { LimitedQueue } from '../common/limited-queue.ts';
import { withinTime } from '../common/within-time.ts';
import type { Config } from '../config/config.ts';
import { DatabaseUnavailable, type Db, type ReadContext } from '../data/database/database.ts';
import { readsWithin } from '../data/database/measured-database.ts';
import { ClientError } from '../errors.ts';
import type { FanOut } from '../live/fan-out.ts';
import type { ServerStatus } from '../live/inventory/server-status.ts';
import type { StreamTransport } from '../live/live-counts.ts';
import type { Presence } from '../live/presence/presence.ts';
import type { PresenceState } from '../live/presence/presence-state.ts';
import type { StateStreams } from '../live/states/state-streams.ts';
import type { Stream } from '../live/stream.ts';
import type { Log } from '../log/log.ts';
import { Context, type Services } from '../resolvers/context.ts';
import type { SubscriptionSource } from '../resolvers/subscription-source.ts';
import {
  type Answer,
  answerTooLong,
  errorsOf,
  findClientError,
  longAnswer,
  toAnswer,
  toJsonInSteps,
} from './answer.ts';
import type { CompiledOperation, DocumentReference } from './documents/documents.ts';
import type { CachePolicy } from './documents/selected-fields.ts';
import { Execution } from './execution/execution.ts';
import type { ClientAccount } from './limits/client-memory.ts';
import type { RateLimit } from './limits/rate.ts';
import type { Call } from './operation-reports.ts';
import { createInboxRequest, createStateRequest, createSubscribeRequest, withCoercedOnly } from './stream-requests.ts';

/** A well-formed GraphQL request. */
export interface GraphQLRequest extends DocumentReference {
  operationName: string | undefined;
  variables: Record<string, unknown> | undefined;
  /** `cost: true` requests the cost of the operation in the answer's extensions. */
  extensions: Record<string, unknown> | undefined;
}

export interface SubscribeOptions {
  /** The stream is charged to this account until it ends. */
  account: ClientAccount;
  transport: StreamTransport;
  /** The cursors to resume after. They take precedence over the operation's own argument. */
  after?: readonly string[] | undefined;
  /**
   * Called as soon as the stream's position is known: all events that are written from then on come after this
   * position.
   */
  onPositioned?: () => void;
}

/** The parts of the server that operations use. */
export interface OperationParts {
  services: Services;
  fanOut: FanOut;
  statusStreams: Pick<StateStreams<ServerStatus>, 'subscribe'>;
  presence: Pick<Presence, 'subscribe'>;
  rateLimit: RateLimit;
  costlyOperations: LimitedQueue;
  config: Pick<Config, 'limits' | 'operationTimeoutMs'>;
  log: Log;
}

/** An operation with its variables. */
export interface BoundOperation {
  compiled: CompiledOperation;
  args: ValidatedExecutionArgs;
  cost: number;
  /** Whether the request asks for the cost. */
  showsCost: boolean;
}

/** An operation that costs more counts as costly: few run at a time, and their root fields run one after the other. */
const costlyFrom = 1_000;
/** Of those that read bodies of posts few run at a time, because their answers may have megabytes. */
const longFrom = 150;
/** In UTF-8. */
const maxBytesPerCharacter = 3;

/** An operation that passed every check and has not run yet. */
export class Operation {
  readonly type: OperationTypeNode;
  readonly #parts: OperationParts;
  readonly #bound: BoundOperation;
  readonly #call: Call;
  readonly #isCostly: boolean;
  readonly #waitsForTurn: boolean;
  #context: Context | undefined;
  #execution: Execution | undefined;

  constructor(parts: OperationParts, bound: BoundOperation, call: Call) {
    this.type = bound.compiled.type;
    this.#parts = parts;
    this.#bound = bound;
    this.#call = call;
    this.#isCostly = bound.cost > costlyFrom;
    this.#waitsForTurn = this.#isCostly || (bound.compiled.fields.hasPostBody && bound.cost > longFrom);
  }

  /** How long the answer may be cached, and whether in shared caches; known after the operation has run. */
  get cachePolicy(): CachePolicy {
    const { cachePolicy } = this.#bound.compiled.fields;
    return this.#context?.hasReadViewer ? { ...cachePolicy, isPublic: false } : cachePolicy;
  }

  /** Runs a query or a mutation. Never fails: an error is part of the answer. */
  execute(): Answer | Promise<Answer> {
    try {
      if (this.#waitsForTurn) return this.#answerInTurn();
      const result = this.#execute();
      if (!(result instanceof Promise)) return this.#answer(result);
      return this.#withTimeout(result).then(
        (done) => this.#answer(done),
        (error) => this.#answerError(error),
      );
    } catch (error) {
      return this.#answerError(error);
    }
  }

  /** Opens a subscription. @throws the error that refuses it. */
  async subscribe(options: SubscribeOptions): Promise<Stream> {
    try {
      return await this.#withTimeout(this.#open(options));
    } catch (error) {
      const reason = this.#reasonOf(error);
      // Its client subscribes again until the database is back.
      if (findClientError(reason) instanceof DatabaseUnavailable) throw reason;
      await this.#parts.rateLimit.chargeResumed(this.#call);
      throw reason;
    }
  }

  async #open({ account, transport, after, onPositioned }: SubscribeOptions): Promise<Stream> {
    const { services, fanOut, statusStreams, presence, rateLimit, config, log } = this.#parts;
    const { viewer, address, cancellation, requestId, report } = this.#call;
    const { compiled, args, cost } = this.#bound;
    const db = readsWithin(services.database, report?.span);
    const contextValue = new Context(services, viewer, { address, db });
    const source = (await new Execution({ ...args, contextValue }).subscribe()) as SubscriptionSource;
    onPositioned?.();
    // The cursors of an inbox are many, and are needed only to open it.
    const variableValues = withCoercedOnly(args.variableValues, compiled.resumeVariable);
    const onEnd = account.holdSubscription(args.document, variableValues.coerced);
    const limits = { answerBytes: config.limits.answerBytes, operationTimeoutMs: config.operationTimeoutMs };
    const caller = { viewer, address, transport, requestId };
    const subscription = { compiled, variableValues, cost, services, ...caller, log, onEnd, ...limits };
    const charge = this.#call.isResumed ? () => rateLimit.chargeResumed(this.#call) : undefined;
    const openStream = async (): Promise<Stream> => {
      switch (source.type) {
        case 'roomEvents':
          return fanOut.subscribe(createSubscribeRequest(source, subscription, after), charge);
        case 'inbox': {
          const request = createInboxRequest(source, subscription, { after, account, cancellation });
          return fanOut.openInbox(request, charge);
        }
        case 'presence': {
          await charge?.();
          const request = createStateRequest<PresenceState>(subscription, { waitsForDatabase: true });
          return presence.subscribe(source.roomId, request, source.presentViewer, account);
        }
        case 'serverStatus':
          await charge?.();
          return statusStreams.subscribe(createStateRequest(subscription, { waitsForDatabase: false }));
      }
    };
    try {
      return await cancellation.race(openStream(), { dispose: (stream) => stream.stop('client') });
    } catch (error) {
      onEnd();
      throw error;
    }
  }

  /**
   * An operation that is cancelled while it waits is answered at once, and never runs. The JSON is created in the same
   * turn, because few long answers may be in work.
   */
  async #answerInTurn(): Promise<Answer> {
    const answer = async () => this.#answer(await this.#execute());
    const running = this.#parts.costlyOperations.run(answer, toReadContext(this.#call, this.#call.cancellation));
    return this.#withTimeout(running).catch((error) => this.#answerError(error));
  }

  #execute(): ExecutionResult | Promise<ExecutionResult> {
    const { database } = this.#parts.services;
    if (!this.#bound.compiled.fields.hasCursor) return this.#run();
    const context = toReadContext(this.#call, this.#call.cancellation);
    if (this.type === OperationTypeNode.QUERY) return database.snapshot(async (db) => this.#run(db), context);
    return database.snapshotDuringWrites(async (db) => this.#run(db), context);
  }

  #run(dbBefore?: Db): ExecutionResult | Promise<ExecutionResult> {
    const { viewer, address, cancellation } = this.#call;
    // The answer to a mutation is needed even if its client has left: its change may be committed.
    const isQuery = this.type === OperationTypeNode.QUERY;
    const readContext = toReadContext(this.#call, isQuery ? cancellation : undefined);
    const { args, compiled } = this.#bound;
    const contextValue = new Context(this.#parts.services, viewer, {
      address,
      readContext,
      dbBefore,
      cancellation,
      readsBodies: compiled.fields.hasPostBody,
    });
    this.#context = contextValue;
    const options = { cancellation, maxLength: this.#parts.config.limits.answerBytes, isSerial: this.#isCostly };
    this.#execution = new Execution({ ...args, contextValue }, options);
    return this.#execution.run();
  }

  /** Cancels the operation when the timeout expires. If that fails, so does the operation. */
  #withTimeout<T>(result: Promise<T>): Promise<T> {
    return withinTime(this.#parts.config.operationTimeoutMs, result, () => {
      this.#call.cancellation.cancel(new ClientError('SERVICE_UNAVAILABLE', 'The operation took too long.'));
      return result;
    });
  }

  #answer(result: ExecutionResult): Answer | Promise<Answer> {
    const { showsCost, cost } = this.#bound;
    const extensions = showsCost && { cost: { requested: cost, maximum: this.#parts.config.limits.cost } };
    const answer = this.#toAnswer(extensions ? { ...result, extensions } : result);
    const { characters = 0, isTooLong } = this.#execution ?? {};
    if (!isTooLong) answer.length = characters;
    if (characters >= longAnswer && !isTooLong)
      return toJsonInSteps(answer.body, characters).then((json) => this.#limitLength(answer, json));
    return this.#limitLength(answer, JSON.stringify(answer.body));
  }

  /** The answer, or the one that refuses it because its JSON is too long. */
  #limitLength(answer: Answer, json: string | Buffer): Answer {
    const limit = this.#parts.config.limits.answerBytes;
    answer.json = json;
    // The bytes of an answer that is surely within the limit are not counted: that takes 0.4 µs for 4 kB.
    if (json.length * maxBytesPerCharacter <= limit || Buffer.byteLength(json) <= limit) return answer;
    const refused = this.#toAnswer({ errors: [answerTooLong(limit, this.type)] });
    if (this.type === OperationTypeNode.QUERY) return refused;
    // The errors of root fields are kept: they name the changes that were not made.
    const failed = answer.body.errors?.filter(({ path }) => path?.length === 1) ?? [];
    return { ...refused, body: { errors: [...(refused.body.errors ?? []), ...failed] } };
  }

  #answerError(error: unknown): Answer {
    return this.#toAnswer({ errors: errorsOf(this.#reasonOf(error)) });
  }

  /** After a cancellation, other errors are only its consequences. */
  #reasonOf(error: unknown): unknown {
    const { isCancelled, reason } = this.#call.cancellation;
    return isCancelled ? reason : error;
  }

  #toAnswer(outcome: Parameters<typeof toAnswer>[0]): Answer {
    return toAnswer(outcome, this.#call, this.#parts.log);
  }
}

/** What a transport sees of an operation. */
export type PreparedOperation = Pick<Operation, 'type' | 'execute' | 'cachePolicy' | 'subscribe'>;

function toReadContext({ viewer, address, report }: Call, cancellation: Cancellation | undefined): ReadContext {
  return { caller: viewer?.chargedId ?? address, cancellation, span: report?.span };
}
