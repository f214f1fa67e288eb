import { hash } from 'node:crypto';
import {
  type DocumentNode,
  type ExecutionResult,
  Kind,
  locatedError,
  type OperationDefinitionNode,
  OperationTypeNode,
  print,
  type ValidatedSubscriptionArgs,
  visit,
} from 'graphql';
import type { Db } from '../data/database.ts';
import type { RoomEvent } from '../data/events.ts';
import { visibleRoomsOf } from '../identity/access.ts';
import { type Viewer, viewerKeyOf } from '../identity/viewer.ts';
import { encodeCursor } from '../live/cursor.ts';
import { EncodedEvent } from '../live/encoded-event.ts';
import { personal, type SubscribeRequest } from '../live/subscribe-request.ts';
import type { RoomStream } from '../resolvers/room-stream.ts';
import { type AnswerOptions, toAnswer } from './answer.ts';
import { OperationContext, type Services, SharedContext } from './context.ts';
import { executeCompiled } from './execution/compiled.ts';
import { selectsPostBody } from './execution/post-body.ts';
import { selectsRoomCursor } from './execution/room-cursor.ts';
import { AnswerSize, answerTooLong } from './limits/answer-size.ts';

export interface LiveOperation {
  validated: ValidatedSubscriptionArgs;
  services: Services;
  viewer: Viewer | null;
  /**
   * The maximum length of an event. A longer event is replaced by an error with its cursor, and the stream continues.
   */
  answerBytes: number;
  address: string;
  cost: number;
  onLeave: () => void;
  answerOptions: AnswerOptions;
}

interface OperationTraits {
  /** Equal for equal operations of equal documents, whichever syntax tree they were parsed to. */
  id: string;
  isPersonal: boolean;
  /**
   * A variable that is used only as the argument `after`. It is left out of the group's key, so that resuming
   * subscribers share a group.
   */
  resumeVariable: string | undefined;
}

const traitsOf = new WeakMap<OperationDefinitionNode, OperationTraits>();

/**
 * Creates the fan-out's request for one subscription. The parameter `after` takes precedence over the stream's own
 * argument.
 */
export function createSubscribeRequest(given: LiveOperation, stream: RoomStream, after?: string): SubscribeRequest {
  const operation = { ...given, validated: withCoercedOnly(given.validated) };
  const { validated, services, viewer, address, cost, onLeave } = operation;
  const traits = traitsOf.get(validated.operation) ?? findTraits(validated);
  traitsOf.set(validated.operation, traits);
  const readsBodies = selectsPostBody(validated);
  const { [traits.resumeVariable ?? '']: _, ...variables } = validated.variableValues.coerced;
  return {
    roomId: stream.roomId,
    after: after ?? stream.after,
    head: stream.head,
    // A hash, because the text may be long.
    key: hash('sha256', `${traits.id} ${JSON.stringify(variables)}`, 'base64url'),
    traits,
    visibleRooms: visibleRoomsOf(viewer),
    viewerKey: viewerKeyOf(viewer),
    cost,
    address,
    onLeave,
    executeShared: (event) => read(operation, (db) => executeShared(operation, stream, event, db)),
    executePersonal: (event) =>
      read(operation, (db) =>
        execute(operation, stream, event, new OperationContext(services, viewer, { db, readsBodies })),
      ),
  };
}

const noSources = Object.create(null);

/** Drops the variables as they were before coercion, so that the subscription does not hold them. */
function withCoercedOnly(validated: ValidatedSubscriptionArgs): ValidatedSubscriptionArgs {
  const { coerced } = validated.variableValues;
  return { ...validated, variableValues: { sources: noSources, coerced }, rawVariableValues: undefined };
}

/** The selection of an event may reach other rooms and select their cursors, so it then reads from a snapshot. */
function read<T>({ validated, services: { database } }: LiveOperation, work: (db: Db) => Promise<T>): Promise<T> {
  return selectsRoomCursor(validated) ? database.snapshot(work) : work(database.db);
}

async function executeShared(
  operation: LiveOperation,
  stream: RoomStream,
  event: RoomEvent,
  db: Db,
): Promise<EncodedEvent | null | typeof personal> {
  const readsBodies = selectsPostBody(operation.validated);
  const context = new SharedContext(operation.services, { db, readsBodies });
  try {
    const encoded = await execute(operation, stream, event, context);
    return context.hasAskedForViewer ? personal : encoded;
  } catch (error) {
    if (context.hasAskedForViewer) return personal;
    throw error;
  }
}

/** Executes the selection for one event, and encodes the result as the bytes that every transport sends. */
async function execute(
  { validated, answerBytes, answerOptions }: LiveOperation,
  { project }: RoomStream,
  event: RoomEvent,
  context: OperationContext,
): Promise<EncodedEvent | null> {
  context.pinPosition(event);
  if (event.content) context.loaders.user.prime(event.content.author.id, event.content.author);
  const rootValue = await project(event, context);
  if (rootValue === undefined) return null;
  const cursor = encodeCursor(event);
  const size = new AnswerSize(answerBytes);
  const result = await executeCompiled({ ...validated, rootValue, contextValue: context }, { size });
  // A shared execution that reads the viewer fails by design, and the error is not logged.
  if (context instanceof SharedContext && context.hasAskedForViewer) return null;
  const extensions = { live: { cursor } };
  const toJson = (outcome: ExecutionResult) => JSON.stringify(toAnswer({ ...outcome, extensions }, answerOptions).body);
  const json = toJson(result);
  if (Buffer.byteLength(json) <= answerBytes) return new EncodedEvent(event, cursor, json);
  const error = locatedError(answerTooLong(answerBytes, OperationTypeNode.SUBSCRIPTION), undefined);
  return new EncodedEvent(event, cursor, toJson({ errors: [error] }));
}

function findTraits({ operation, document }: ValidatedSubscriptionArgs): OperationTraits {
  const text = document.loc?.source.body ?? print(document);
  const id = hash('sha256', `${operation.name?.value ?? ''} ${text}`, 'base64url');
  return { id, isPersonal: false, resumeVariable: findResumeVariable(operation, document) };
}

function findResumeVariable(operation: OperationDefinitionNode, document: DocumentNode): string | undefined {
  const [root] = operation.selectionSet.selections;
  const after =
    root?.kind === Kind.FIELD ? root.arguments?.find(({ name }) => name.value === 'after')?.value : undefined;
  if (after?.kind !== Kind.VARIABLE) return undefined;
  return countUses(after.name.value, operation, document) === 1 ? after.name.value : undefined;
}

/** Counts the uses of a variable in the operation and in all fragments of its document, without its definition. */
function countUses(name: string, operation: OperationDefinitionNode, document: DocumentNode): number {
  let uses = 0;
  visit(document, {
    OperationDefinition: (node) => (node === operation ? undefined : false),
    VariableDefinition: () => false,
    Variable(node) {
      if (node.name.value === name) uses += 1;
    },
  });
  return uses;
}
