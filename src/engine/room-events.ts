import { hash } from 'node:crypto';
import {
  type ExecutionResult,
  GraphQLError,
  locatedError,
  OperationTypeNode,
  type ValidatedExecutionArgs,
  type ValidatedSubscriptionArgs,
} from 'graphql';
import { DatabaseUnavailable, type Db, StatementTooSlow } from '../data/database.ts';
import type { StreamEvent } from '../data/events.ts';
import { readsWithin } from '../data/traced-database.ts';
import { ClientError } from '../errors.ts';
import { visibleRoomsOf } from '../identity/access.ts';
import { type Viewer, viewerKeyOf } from '../identity/viewer.ts';
import type { EncodedEvent } from '../live/encoded-event.ts';
import type { InboxRequest, InboxSelection } from '../live/inbox/inbox-request.ts';
import type { StreamTransport } from '../live/live-counts.ts';
import { personal, type Selection, type SubscribeRequest } from '../live/subscribe-request.ts';
import type { Log } from '../log.ts';
import type { Services } from '../resolvers/context.ts';
import type { InboxSource, RoomEventSource } from '../resolvers/subscription-source.ts';
import type { Span } from '../tracing/span.ts';
import { type Answer, toAnswer } from './answer.ts';
import type { Cancellation } from './cancellation.ts';
import { OperationContext, SharedContext } from './context.ts';
import type { CompiledOperation } from './documents/compiled-operation.ts';
import { encodeInboxEvent, encodeRoomEvent } from './encode-event.ts';
import type { Executor } from './execution/executor.ts';
import { AnswerSize, answerTooLong } from './limits/answer-size.ts';

/** A subscription of one viewer. */
export interface RoomSubscription {
  compiled: CompiledOperation;
  args: ValidatedSubscriptionArgs;
  executor: Executor;
  services: Services;
  viewer: Viewer | null;
  address: string;
  transport: StreamTransport;
  cost: number;
  /** The cursors to resume after: they take precedence over those of the source. */
  after: readonly string[] | undefined;
  /**
   * The maximum length of an event. A longer event is replaced by an error with its cursor, and the stream continues.
   */
  answerBytes: number;
  requestId: string;
  log: Log;
  onEnd: () => void;
}

/** How the events of a subscription are executed. */
interface Execution {
  project: RoomEventSource['project'];
  encode: (event: StreamEvent, body: Answer['body']) => EncodedEvent;
}

/** Creates the request for the fan-out. @throws ClientError CURSOR_INVALID. */
export function createSubscribeRequest(source: RoomEventSource, given: RoomSubscription): SubscribeRequest {
  const { roomId, head, project } = source;
  if (given.after && given.after.length !== 1) throw new ClientError('CURSOR_INVALID');
  const after = given.after?.[0] ?? source.after ?? undefined;
  return { ...createSelection(given, { project, encode: encodeRoomEvent }), roomId, after, head };
}

/** Creates the request of an inbox for the fan-out. `account`: that of the client. `cancellation`: that of the call. */
export function createInboxRequest(
  { userId, rooms, readAt, after }: InboxSource,
  given: RoomSubscription,
  account: InboxSelection['account'],
  cancellation: Cancellation,
): InboxRequest {
  // `Last-Event-ID` is one cursor, and an inbox has one for each room.
  const seen = given.transport === 'websocket' ? given.after : undefined;
  const cursors = seen ?? after;
  const execution = { project: (event: StreamEvent) => event, encode: encodeInboxEvent };
  const isResumed = cursors !== undefined;
  return {
    selection: { ...createSelection(given, execution), userId, isResumed, account },
    rooms,
    readAt,
    after: cursors,
    throwIfCancelled: () => cancellation.throwIfCancelled(),
  };
}

/** The fan-out executes the selection once for all who select the same. */
function createSelection(given: RoomSubscription, execution: Execution): Selection {
  // The cursors of an inbox are many, and are needed only to open it.
  const subscription = {
    ...given,
    after: undefined,
    args: withCoercedOnly(given.args, given.compiled.subscription?.resumeVariable),
  };
  const { compiled, args, services, viewer, address, transport, cost, onEnd } = subscription;
  const { subscription: traits, fields } = compiled;
  if (!traits) throw new Error('The operation is not a subscription.');
  const readsBodies = fields.hasPostBody;
  return {
    // A hash, because the text may be long.
    key: hash('sha256', `${traits.id} ${JSON.stringify(args.variableValues.coerced)}`, 'base64url'),
    traits,
    visibleRooms: visibleRoomsOf(viewer),
    viewerKey: viewerKeyOf(viewer),
    cost,
    address,
    chargedId: viewer?.chargedId ?? null,
    transport,
    onEnd,
    executeShared: (event, span) => read(subscription, span, (db) => executeShared(subscription, execution, event, db)),
    executePersonal: (event, span) =>
      read(subscription, span, (db) =>
        execute(subscription, execution, event, new OperationContext(services, viewer, { db, readsBodies })),
      ),
  };
}

const noSources = Object.create(null);

/**
 * Drops the variables as they were before coercion, and a variable that is left out, so that the subscription does not
 * hold them.
 */
export function withCoercedOnly<Args extends ValidatedExecutionArgs>(args: Args, leftOut = ''): Args {
  const { [leftOut]: _, ...coerced } = args.variableValues.coerced;
  return { ...args, variableValues: { sources: noSources, coerced }, rawVariableValues: undefined };
}

/** The selection of an event may reach other rooms and select their cursors, so it then reads from a snapshot. */
function read<T>(
  { compiled, services: { database } }: RoomSubscription,
  span: Span | undefined,
  work: (db: Db) => Promise<T>,
): Promise<T> {
  return compiled.fields.hasRoomCursor ? database.snapshot(work, span) : work(readsWithin(database, span));
}

async function executeShared(
  subscription: RoomSubscription,
  execution: Execution,
  event: StreamEvent,
  db: Db,
): Promise<EncodedEvent | null | typeof personal> {
  const readsBodies = subscription.compiled.fields.hasPostBody;
  const context = new SharedContext(subscription.services, { db, readsBodies });
  try {
    const encoded = await execute(subscription, execution, event, context);
    return context.hasReadViewer ? personal : encoded;
  } catch (error) {
    if (context.hasReadViewer) return personal;
    throw error;
  }
}

/**
 * Executes the selection for one event, and serialises the result as JSON once for all transports. @throws
 * DatabaseUnavailable, so that the event is delivered later instead of without its content. A selection that is too slow
 * for the database would delay all later events, so its event is delivered with the error.
 */
async function execute(
  { args, executor, answerBytes, requestId, log }: RoomSubscription,
  { project, encode }: Execution,
  event: StreamEvent,
  context: OperationContext,
): Promise<EncodedEvent | null> {
  context.pinPosition(event);
  if (event.content) context.loaders.user.prime(event.content.author.id, event.content.author);
  const rootValue = await project(event, context);
  if (rootValue === undefined) return null;
  const size = new AnswerSize(answerBytes);
  const result = await executor.execute({ ...args, rootValue, contextValue: context }, { size });
  // A shared execution that reads the viewer fails by design, and the error is not logged.
  if (context instanceof SharedContext && context.hasReadViewer) return null;
  const unavailable = findTemporaryError(result);
  if (unavailable) throw unavailable;
  const toBody = (outcome: ExecutionResult) => toAnswer(outcome, { requestId }, log).body;
  const encoded = encode(event, toBody(result));
  if (Buffer.byteLength(encoded.json) <= answerBytes) return encoded;
  const error = locatedError(answerTooLong(answerBytes, OperationTypeNode.SUBSCRIPTION), undefined);
  return encode(event, toBody({ errors: [error] }));
}

/** The error of a database that is not available; undefined if the result is final. */
export function findTemporaryError({ errors }: { errors?: readonly unknown[] }): unknown {
  return errors
    ?.map((error) => (error instanceof GraphQLError ? error.originalError : error))
    .find((error) => error instanceof DatabaseUnavailable && !(error instanceof StatementTooSlow));
}
