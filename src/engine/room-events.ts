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
import type { RoomEvent } from '../data/events.ts';
import { readsWithin } from '../data/traced-database.ts';
import { visibleRoomsOf } from '../identity/access.ts';
import { type Viewer, viewerKeyOf } from '../identity/viewer.ts';
import { encodeCursor } from '../live/cursor.ts';
import { EncodedEvent } from '../live/encoded-event.ts';
import type { StreamTransport } from '../live/live-counts.ts';
import { personal, type SubscribeRequest } from '../live/subscribe-request.ts';
import type { Log } from '../log.ts';
import type { Services } from '../resolvers/context.ts';
import type { RoomEventSource } from '../resolvers/room-event-source.ts';
import type { Span } from '../tracing/span.ts';
import { toAnswer } from './answer.ts';
import { OperationContext, SharedContext } from './context.ts';
import type { CompiledOperation } from './documents/compiled-operation.ts';
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
  /** Takes precedence over the cursor of the source. */
  after: string | undefined;
  /**
   * The maximum length of an event. A longer event is replaced by an error with its cursor, and the stream continues.
   */
  answerBytes: number;
  requestId: string;
  log: Log;
  onEnd: () => void;
}

/** Creates the request for the fan-out, which executes the selection once for all who select the same. */
export function createSubscribeRequest(source: RoomEventSource, given: RoomSubscription): SubscribeRequest {
  const subscription = { ...given, args: withCoercedOnly(given.args) };
  const { compiled, args, services, viewer, address, transport, cost, onEnd } = subscription;
  const { subscription: traits, fields } = compiled;
  if (!traits) throw new Error('The operation is not a subscription.');
  const { [traits.resumeVariable ?? '']: _, ...variables } = args.variableValues.coerced;
  const readsBodies = fields.hasPostBody;
  return {
    roomId: source.roomId,
    after: given.after ?? source.after ?? undefined,
    head: source.head,
    // A hash, because the text may be long.
    key: hash('sha256', `${traits.id} ${JSON.stringify(variables)}`, 'base64url'),
    traits,
    visibleRooms: visibleRoomsOf(viewer),
    viewerKey: viewerKeyOf(viewer),
    cost,
    address,
    transport,
    onEnd,
    executeShared: (event, span) => read(subscription, span, (db) => executeShared(subscription, source, event, db)),
    executePersonal: (event, span) =>
      read(subscription, span, (db) =>
        execute(subscription, source, event, new OperationContext(services, viewer, { db, readsBodies })),
      ),
  };
}

const noSources = Object.create(null);

/** Drops the variables as they were before coercion, so that the subscription does not hold them. */
export function withCoercedOnly<Args extends ValidatedExecutionArgs>(args: Args): Args {
  const { coerced } = args.variableValues;
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
  source: RoomEventSource,
  event: RoomEvent,
  db: Db,
): Promise<EncodedEvent | null | typeof personal> {
  const readsBodies = subscription.compiled.fields.hasPostBody;
  const context = new SharedContext(subscription.services, { db, readsBodies });
  try {
    const encoded = await execute(subscription, source, event, context);
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
  { project }: RoomEventSource,
  event: RoomEvent,
  context: OperationContext,
): Promise<EncodedEvent | null> {
  context.pinPosition(event);
  if (event.content) context.loaders.user.prime(event.content.author.id, event.content.author);
  const rootValue = await project(event, context);
  if (rootValue === undefined) return null;
  const cursor = encodeCursor(event);
  const size = new AnswerSize(answerBytes);
  const result = await executor.execute({ ...args, rootValue, contextValue: context }, { size });
  // A shared execution that reads the viewer fails by design, and the error is not logged.
  if (context instanceof SharedContext && context.hasReadViewer) return null;
  const unavailable = findTemporaryError(result);
  if (unavailable) throw unavailable;
  const extensions = { live: { cursor } };
  const toJson = (outcome: ExecutionResult) =>
    JSON.stringify(toAnswer({ ...outcome, extensions }, { requestId }, log).body);
  const json = toJson(result);
  if (Buffer.byteLength(json) <= answerBytes) return new EncodedEvent(event, cursor, json);
  const error = locatedError(answerTooLong(answerBytes, OperationTypeNode.SUBSCRIPTION), undefined);
  return new EncodedEvent(event, cursor, toJson({ errors: [error] }));
}

/** The error of a database that is not available; undefined if the result is final. */
export function findTemporaryError({ errors }: { errors?: readonly unknown[] }): unknown {
  return errors
    ?.map((error) => (error instanceof GraphQLError ? error.originalError : error))
    .find((error) => error instanceof DatabaseUnavailable && !(error instanceof StatementTooSlow));
}
