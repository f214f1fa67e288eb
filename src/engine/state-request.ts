import { hash } from 'node:crypto';
import { OperationTypeNode, type ValidatedExecutionArgs } from 'graphql';
import type { Db } from '../data/database.ts';
import { visibleRoomsOf } from '../identity/access.ts';
import { type Viewer, viewerKeyOf } from '../identity/viewer.ts';
import type { StateRequest } from '../live/states/state-stream.ts';
import { personal } from '../live/subscribe-request.ts';
import type { Log } from '../log.ts';
import type { Services } from '../resolvers/context.ts';
import { errorsOf, toAnswer } from './answer.ts';
import { OperationContext, SharedContext } from './context.ts';
import type { CompiledOperation } from './documents/compiled-operation.ts';
import type { Executor } from './execution/executor.ts';
import { AnswerSize, answerTooLong } from './limits/answer-size.ts';
import { findTemporaryError, withCoercedOnly } from './room-events.ts';

/** A subscription of one viewer to a state. */
interface StateSubscription extends Pick<StateRequest<unknown>, 'transport' | 'address' | 'cost' | 'onEnd'> {
  compiled: CompiledOperation;
  args: ValidatedExecutionArgs;
  executor: Executor;
  services: Services;
  viewer: Viewer | null;
  /** The maximum length of a state; a longer one is replaced by an error. */
  answerBytes: number;
  /** Whether a state is sent later if the database is not available. Otherwise it is sent with the errors. */
  waitsForDatabase: boolean;
  requestId: string;
  log: Log;
}

/** Creates the request of a subscription. Its selection is executed once for all who select the same. */
export function createStateRequest<State>(given: StateSubscription): StateRequest<State> {
  const subscription = { ...given, args: withCoercedOnly(given.args) };
  const { compiled, args, viewer, transport, address, cost, onEnd } = subscription;
  const { subscription: traits } = compiled;
  if (!traits) throw new Error('The operation is not a subscription.');
  const variables = JSON.stringify(args.variableValues.coerced);
  return {
    key: hash('sha256', `${traits.id} ${variables}`, 'base64url'),
    traits,
    viewerKey: viewerKeyOf(viewer),
    visibleRooms: visibleRoomsOf(viewer),
    execute: (state) =>
      read(subscription, (db) => executeIn(subscription, state, db)).catch((error: unknown) => {
        if (subscription.waitsForDatabase) throw error;
        return toJson(subscription, { errors: errorsOf(error) });
      }),
    transport,
    address,
    chargedId: viewer?.chargedId ?? null,
    cost,
    onEnd,
  };
}

/** The selection may reach the cursors of rooms, and then reads from a snapshot. */
function read<T>({ compiled, services: { database } }: StateSubscription, work: (db: Db) => Promise<T>): Promise<T> {
  return compiled.fields.hasRoomCursor ? database.snapshot(work) : work(database.db);
}

async function executeIn(subscription: StateSubscription, state: unknown, db: Db): Promise<string | typeof personal> {
  const { compiled, services, viewer, address } = subscription;
  const options = { address, db, readsBodies: compiled.fields.hasPostBody };
  if (compiled.subscription?.isPersonal)
    return execute(subscription, state, new OperationContext(services, viewer, options));
  const context = new SharedContext(services, options);
  const json = await execute(subscription, state, context);
  if (!context.hasReadViewer) return json;
  if (compiled.subscription) compiled.subscription.isPersonal = true;
  return personal;
}

async function execute(
  subscription: StateSubscription,
  rootValue: unknown,
  contextValue: OperationContext,
): Promise<string> {
  const { args, executor, answerBytes } = subscription;
  const run = async () => executor.execute({ ...args, rootValue, contextValue }, { size: new AnswerSize(answerBytes) });
  const result = await run().catch((error: unknown) => ({ errors: errorsOf(error) }));
  // A shared execution that reads the viewer fails by design, and the error is not logged.
  if (contextValue instanceof SharedContext && contextValue.hasReadViewer) return '';
  const unavailable = findTemporaryError(result);
  if (unavailable && subscription.waitsForDatabase) throw unavailable;
  const json = toJson(subscription, result);
  if (Buffer.byteLength(json) <= answerBytes) return json;
  return toJson(subscription, { errors: [answerTooLong(answerBytes, OperationTypeNode.SUBSCRIPTION)] });
}

function toJson({ requestId, log }: StateSubscription, outcome: Parameters<typeof toAnswer>[0]): string {
  return JSON.stringify(toAnswer(outcome, { requestId }, log).body);
}
