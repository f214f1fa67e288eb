import { hash } from 'node:crypto';
import { type ExecutionResult, GraphQLError, locatedError, OperationTypeNode, type VariableValues } from 'graphql';
import type { Cancellation } from '../common/cancellation.ts';
import { withinTime } from '../common/within-time.ts';
import { DatabaseUnavailable, type Db, StatementTooSlow } from '../data/database/database.ts';
import { readsWithin } from '../data/database/measured-database.ts';
import type { StreamEvent } from '../data/event-log/events.ts';
import { ClientError } from '../errors.ts';
import { viewerScopeOf } from '../identity/access.ts';
import { type Viewer, viewerKeyOf } from '../identity/viewer.ts';
import { encodeCursor } from '../live/cursor.ts';
import type { InboxRequest, InboxSelection } from '../live/inbox/inbox-request.ts';
import type { StreamTransport } from '../live/live-counts.ts';
import type { StateRequest } from '../live/states/state-streams.ts';
import {
  EncodedEvent,
  personal,
  type Selection,
  StreamMessage,
  type StreamRequest,
  type SubscribeRequest,
} from '../live/stream.ts';
import type { Log } from '../log/log.ts';
import { Context, type Services, SharedContext } from '../resolvers/context.ts';
import type { InboxSource, RoomEventSource } from '../resolvers/subscription-source.ts';
import type { Span } from '../tracing/tracing.ts';
import { type Answer, answerTooLong, errorsOf, toAnswer } from './answer.ts';
import type { CompiledOperation } from './documents/documents.ts';
import { Execution } from './execution/execution.ts';

/** A subscription of one viewer. */
export interface Subscription {
  compiled: CompiledOperation;
  variableValues: VariableValues;
  services: Services;
  viewer: Viewer | null;
  address: string;
  transport: StreamTransport;
  cost: number;
  /** The maximum length of a message. A longer one is replaced by an error, and the stream continues. */
  answerBytes: number;
  operationTimeoutMs: number;
  requestId: string;
  log: Log;
  onEnd: () => void;
}

/** How the events or the states of a subscription become messages. */
interface Form<Value, Message> {
  /** The root value of an execution; undefined leaves the value out. */
  project: (value: Value, context: Context) => unknown;
  encode: (value: Value, body: Answer['body']) => Message;
  /** Whether a value is sent later if the database is not available. Otherwise it is sent with the errors. */
  waitsForDatabase: boolean;
}

/** `after`: the cursors to resume after; they take precedence over that of the source. @throws ClientError CURSOR_INVALID. */
export function createSubscribeRequest(
  { roomId, head, project, after: ownAfter }: RoomEventSource,
  subscription: Subscription,
  after: readonly string[] | undefined,
): SubscribeRequest {
  if (after && after.length !== 1) throw new ClientError('CURSOR_INVALID');
  const selection = createSelection(subscription, project, encodeRoomEvent);
  return { ...selection, roomId, after: after?.[0] ?? ownAfter ?? undefined, head };
}

/** `account`: that of the client. `cancellation`: that of the call. */
export function createInboxRequest(
  { userId, rooms, project, after: ownAfter }: InboxSource,
  subscription: Subscription,
  given: { after: readonly string[] | undefined; account: InboxSelection['account']; cancellation: Cancellation },
): InboxRequest {
  const { account, cancellation } = given;
  // `Last-Event-ID` is one cursor, and an inbox has one for each room.
  const after = (subscription.transport === 'websocket' ? given.after : undefined) ?? ownAfter;
  const selection = createSelection(subscription, project, encodeInboxEvent);
  return {
    selection: { ...selection, userId, isResumed: after !== undefined, account },
    rooms,
    after,
    throwIfCancelled: () => cancellation.throwIfCancelled(),
  };
}

/** The request of a subscription to a state. */
export function createStateRequest<State>(
  subscription: Subscription,
  { waitsForDatabase }: Pick<Form<State, StreamMessage>, 'waitsForDatabase'>,
): StateRequest<State> {
  const encode = (_: State, body: Answer['body']) => new StreamMessage(undefined, JSON.stringify(body));
  return createRequest(subscription, { project: (state) => state, encode, waitsForDatabase });
}

function createSelection(
  subscription: Subscription,
  project: RoomEventSource['project'],
  encode: Form<StreamEvent, EncodedEvent>['encode'],
): Selection {
  const projectEvent = (event: StreamEvent, context: Context) => {
    context.pinPosition(event);
    if (event.content) context.loaders.user.prime(event.content.author.id, event.content.author);
    return project(event, context);
  };
  return createRequest(subscription, { project: projectEvent, encode, waitsForDatabase: true });
}

/** Serialises an event of one room, whose cursor a client can resume after. */
function encodeRoomEvent(event: StreamEvent, body: Answer['body']): EncodedEvent {
  const cursor = encodeCursor(event);
  return new EncodedEvent(event, cursor, JSON.stringify({ ...body, extensions: { live: { cursor } } }));
}

/**
 * Serialises an event of an inbox, which names its room: no single cursor is enough to resume. The last message of a room
 * has `ended`, so that its client can forget the cursor of this room.
 */
function encodeInboxEvent(event: StreamEvent, body: Answer['body']): EncodedEvent {
  const ended = event.type === 'RoomDeleted' ? { ended: true } : {};
  const live = { room: event.roomId, cursor: encodeCursor(event), ...ended, ...event.live };
  return new EncodedEvent(event, undefined, JSON.stringify({ ...body, extensions: { live } }));
}

/** The selection is executed once for all who select the same. */
function createRequest<Value, Message extends StreamMessage>(
  subscription: Subscription,
  form: Form<Value, Message>,
): StreamRequest<Value, Message> {
  const { compiled, variableValues, services, viewer, address, transport, cost, onEnd } = subscription;
  const readsBodies = compiled.fields.hasPostBody;
  const run = (value: Value, span: Span | undefined, createContext: (db: Db) => Context) =>
    read(subscription, span, (db) => execute(subscription, form, value, createContext(db))).catch((error: unknown) => {
      if (form.waitsForDatabase) throw error;
      return form.encode(value, toBody(subscription, { errors: errorsOf(error) }));
    });
  return {
    // A hash, because the text may be long.
    key: hash('sha256', `${compiled.id} ${JSON.stringify(variableValues.coerced)}`, 'base64url'),
    traits: compiled,
    viewerScope: viewerScopeOf(viewer),
    viewerKey: viewerKeyOf(viewer),
    cost,
    address,
    chargedId: viewer?.chargedId ?? null,
    transport,
    onEnd,
    executeShared: (value, span) => run(value, span, (db) => new SharedContext(services, { db, readsBodies })),
    executePersonal: (value, span) => run(value, span, (db) => new Context(services, viewer, { db, readsBodies })),
  };
}

const noSources = Object.create(null);

/**
 * Drops the variables as they were before coercion, and a variable that is left out, so that the subscription does not
 * hold them.
 */
export function withCoercedOnly(values: VariableValues, leftOut = ''): VariableValues {
  const { [leftOut]: _, ...coerced } = values.coerced;
  return { sources: noSources, coerced };
}

/** The selection of an event may reach other rooms and select their cursors, so it then reads from a snapshot. */
function read<T>(
  { compiled, services: { database } }: Subscription,
  span: Span | undefined,
  work: (db: Db) => Promise<T>,
): Promise<T> {
  return compiled.fields.hasCursor ? database.snapshot(work, { caller: '', span }) : work(readsWithin(database, span));
}

/**
 * Executes the selection for one value, and serialises the result as JSON once for all transports. @throws
 * DatabaseUnavailable, so that an event is delivered later instead of without its content. A selection that is too slow
 * for the database would delay all later events, so its event is delivered with the error.
 */
async function execute<Value, Message extends StreamMessage>(
  subscription: Subscription,
  { project, encode, waitsForDatabase }: Form<Value, Message>,
  value: Value,
  context: Context,
): Promise<Message | null | typeof personal> {
  const { compiled, variableValues, answerBytes } = subscription;
  const isPersonal = () => context instanceof SharedContext && context.hasReadViewer;
  let result: ExecutionResult | undefined;
  try {
    const rootValue = await project(value, context);
    if (rootValue === undefined) return isPersonal() ? personal : null;
    const args = compiled.argsOf(variableValues, rootValue, context);
    result = await withTimeout(subscription, new Execution(args, { maxLength: answerBytes }).run());
    // A shared execution that reads the viewer fails by design, and the error is not logged.
    if (isPersonal()) return personal;
    const unavailable = waitsForDatabase && findTemporaryError(result.errors);
    if (unavailable) throw unavailable;
    const encoded = encode(value, toBody(subscription, result));
    if (Buffer.byteLength(encoded.json) <= answerBytes) return encoded;
    const error = answerTooLong(answerBytes, OperationTypeNode.SUBSCRIPTION);
    return encode(value, toBody(subscription, { errors: [error] }));
  } catch (error) {
    if (isPersonal()) return personal;
    if (!result || findTemporaryError([error])) throw error;
    // An error of an extension may be one that cannot be serialised.
    return encode(value, toBody(subscription, { errors: errorsOf(error) }));
  }
}

const tooLong = 'The execution took too long.';

/** A resolver of an extension may never end. A read of a database that does not answer ends before: it fails after 12 s. */
function withTimeout(
  { services, operationTimeoutMs }: Subscription,
  running: ExecutionResult | Promise<ExecutionResult>,
): ExecutionResult | Promise<ExecutionResult> {
  if (services.extensions.isEmpty || !(running instanceof Promise)) return running;
  return withinTime(2 * operationTimeoutMs, running, () => ({
    errors: [locatedError(new ClientError('SERVICE_UNAVAILABLE', tooLong), undefined)],
  }));
}

function toBody({ requestId, log }: Subscription, outcome: Parameters<typeof toAnswer>[0]): Answer['body'] {
  return toAnswer(outcome, { requestId }, log).body;
}

/** The error of a database that is not available; undefined if the result is final. */
function findTemporaryError(errors: readonly unknown[] = []): unknown {
  return errors
    .map((error) => (error instanceof GraphQLError ? error.originalError : error))
    .find((error) => error instanceof DatabaseUnavailable && !(error instanceof StatementTooSlow));
}
