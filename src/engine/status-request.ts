import { hash } from 'node:crypto';
import { type ExecutionResult, OperationTypeNode, type ValidatedExecutionArgs } from 'graphql';
import type { Db } from '../data/database.ts';
import { type Viewer, viewerKeyOf } from '../identity/viewer.ts';
import type { ServerStatus } from '../live/inventory/server-status.ts';
import type { StatusRequest } from '../live/inventory/status-stream.ts';
import type { Log } from '../log.ts';
import type { Services } from '../resolvers/context.ts';
import { errorsOf, toAnswer } from './answer.ts';
import { OperationContext } from './context.ts';
import type { CompiledOperation } from './documents/compiled-operation.ts';
import type { Executor } from './execution/executor.ts';
import { AnswerSize, answerTooLong } from './limits/answer-size.ts';
import { withCoercedOnly } from './room-events.ts';

/** A subscription of one viewer to the state of the server. */
interface StatusSubscription extends Omit<StatusRequest, 'key' | 'execute' | 'userId'> {
  compiled: CompiledOperation;
  args: ValidatedExecutionArgs;
  executor: Executor;
  services: Services;
  viewer: Viewer | null;
  /** The maximum length of a state; a longer one is replaced by an error. */
  answerBytes: number;
  requestId: string;
  log: Log;
}

/** Creates the request of a subscription. Its selection is executed once for all equal subscriptions of the viewer. */
export function createStatusRequest(given: StatusSubscription): StatusRequest {
  const subscription = { ...given, args: withCoercedOnly(given.args) };
  const { compiled, args, viewer, answerBytes, requestId, log } = subscription;
  const { transport, address, cost, onEnd } = subscription;
  const variables = JSON.stringify(args.variableValues.coerced);
  return {
    key: hash('sha256', `${compiled.subscription?.id} ${viewerKeyOf(viewer)} ${variables}`, 'base64url'),
    async execute(status) {
      const toJson = (outcome: Parameters<typeof toAnswer>[0]) =>
        JSON.stringify(toAnswer(outcome, { requestId }, log).body);
      try {
        const json = toJson(await execute(subscription, status));
        if (Buffer.byteLength(json) <= answerBytes) return json;
        return toJson({ errors: [answerTooLong(answerBytes, OperationTypeNode.SUBSCRIPTION)] });
      } catch (error) {
        return toJson({ errors: errorsOf(error) });
      }
    },
    transport,
    address,
    userId: viewer?.user.id ?? null,
    cost,
    onEnd,
  };
}

/** The selection may reach the cursors of rooms, and so reads from a snapshot. */
async function execute(
  { compiled, args, executor, services, viewer, address, answerBytes }: StatusSubscription,
  rootValue: ServerStatus,
): Promise<ExecutionResult> {
  const { hasRoomCursor, hasPostBody: readsBodies } = compiled.fields;
  const run = async (db: Db) => {
    const contextValue = new OperationContext(services, viewer, { address, db, readsBodies });
    return executor.execute({ ...args, rootValue, contextValue }, { size: new AnswerSize(answerBytes) });
  };
  return hasRoomCursor ? services.database.snapshot(run) : run(services.database.db);
}
