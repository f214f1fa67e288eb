import type { GraphQLSchema } from 'graphql';
import { createDeletions } from './changes/deletions.ts';
import { createTrimming } from './changes/trimming.ts';
import type { Channel } from './common/channel.ts';
import { collectGarbage } from './common/collect-garbage.ts';
import type { Config } from './config/config.ts';
import type { Database } from './data/database/database.ts';
import { openDatabase } from './data/database/open-database.ts';
import { createTimings, type DatabaseTimings } from './data/database/timings.ts';
import { createDocumentCheck } from './engine/documents/document-check.ts';
import { createAutomaticDocuments, type DocumentSource } from './engine/documents/documents.ts';
import { loadTrustedDocuments } from './engine/documents/trusted.ts';
import { createEngine } from './engine/engine.ts';
import { loadExtensions } from './engine/extensions/load.ts';
import { ClientMemory } from './engine/limits/client-memory.ts';
import { openSharedRate } from './engine/limits/rate.ts';
import { OperationReports } from './engine/operation-reports.ts';
import { loadSchema } from './engine/schema.ts';
import { auditTo } from './identity/audit.ts';
import { createIdentity } from './identity/authentication.ts';
import { type PasswordCost, Passwords } from './identity/session/passwords.ts';
import { Sessions } from './identity/session/session.ts';
import { loadOrCreateStoredKeys, readGivenKeys } from './identity/session/session-key.ts';
import { createSignInLimit } from './identity/session/sign-in-limit.ts';
import type { Bus, BusOptions } from './live/bus/bus.ts';
import { openBus } from './live/bus/open-bus.ts';
import { followCommonMessages } from './live/common-messages.ts';
import { FanOut } from './live/fan-out.ts';
import { Presence } from './live/presence/presence.ts';
import { type Log, logFailures, nodeNameOf } from './log/log.ts';
import type { Services } from './resolvers/context.ts';
import type { LoadedExtension } from './resolvers/extensions/extension.ts';
import { Extensions } from './resolvers/extensions/extensions.ts';
import { loadTracing } from './tracing/tracing.ts';
import { AnswerBudget } from './transport/admission/memory-budgets.ts';
import type { DependencyStates } from './transport/http/exchange.ts';
import { createInventory } from './transport/inventory.ts';
import { LongConnections } from './transport/long-connections.ts';
import { EventLoopDelay } from './transport/metrics/event-loop-delay.ts';
import { createServers } from './transport/servers.ts';

export interface RunningServer {
  url: string;
  /** The URL of the metrics, if they have a port of their own. */
  metricsUrl: string | undefined;
  /** The path of the database, or another name for the log. */
  databaseName: string;
  /**
   * Moves the clients to other servers, waits for running operations, and closes the database. Without `withDelay`
   * new connections are refused at once. `isReplaced`: other workers serve on its port.
   */
  close(options?: { withDelay?: boolean; isReplaced?: boolean }): Promise<void>;
}

/** Parts that the caller can replace. */
export interface PartOverrides {
  bus?: Bus;
  /** Of the workers of one machine. */
  parent?: Channel | undefined;
  /** Tests start many servers; loading the schema takes half of the time of a start. */
  schema?: GraphQLSchema;
  /** Tests sign up many accounts, and use a lower cost. */
  passwordCost?: PasswordCost;
}

/**
 * Creates all parts of the server and listens. @throws BadSetting, DatabaseUnusable, or an Error with the code
 * EADDRINUSE.
 */
export async function startServer(config: Config, log: Log, overrides: PartOverrides = {}): Promise<RunningServer> {
  const loaded = await loadExtensions(config.extensions);
  const schema = (loaded.length === 0 && overrides.schema) || loadSchema(loaded);
  const extensions = new Extensions(loaded);
  const documents = createDocumentSource(config, schema);
  const givenKeys = readGivenKeys(config);
  const timings = createTimings();
  const database = await openLoggedDatabase(config, log, timings, loaded);
  // Closed in the reverse order, also after a failed start.
  const opened = new AsyncDisposableStack();
  opened.defer(() => database.close());
  try {
    const tracing = await loadTracing(config.tracing, log, nodeNameOf(config));
    opened.defer(() => tracing?.close());
    // The key is created after the database is opened, so that a failed start leaves no key file.
    const keys = givenKeys ?? loadOrCreateStoredKeys(database);
    const sessions = new Sessions(keys, config.sessionHours);
    const { parent } = overrides;
    const bus = overrides.bus ?? (await openBus(config, database, reportBusTo(log), await parent?.ask('path')));
    opened.defer(() => bus.close());
    const audit = auditTo(log);
    const signInLimit = createSignInLimit(database, config.signInAttempts);
    const onDeletionError = logFailures(log, 'deleted rows could not be removed, and will be removed later');
    const deletions = createDeletions(database, bus, onDeletionError, extensions.tables, parent);
    opened.defer(() => deletions.stop());
    const onError = logFailures(log, 'the live feed failed, and tries again');
    const retention = { hours: config.eventRetentionHours, count: config.eventRetentionCount };
    const onLogRead = (roomId: string) => log.debug({ roomId }, 'log read');
    const { events: extensionEvents } = extensions;
    const fanOut = new FanOut({ config, database, bus, retention, tracing, extensionEvents, onError, onLogRead });
    const askOthers = (roomIds: readonly string[]) => inventory.askForPresence(roomIds);
    const presence = new Presence({ bus, fanOut, askOthers, onError });
    const sharedRate = await openSharedRate(config, keys, log);
    opened.defer(() => sharedRate?.close());
    const operationReports = new OperationReports(config, log, tracing);
    const longConnections = new LongConnections(operationReports.load);
    const eventLoopDelay = opened.adopt(new EventLoopDelay(), (delay) => delay.stop());
    const live = { bus, fanOut, presence, longConnections };
    const common = { config, log, database, ...live, operationReports, eventLoopDelay, parent };
    const { inventory, statusStreams, ...measuring } = createInventory({ ...common, onError });
    opened.defer(measuring.stop);
    const passwords = new Passwords(overrides.passwordCost);
    const accounts = { sessions, signUp: config.signUp, passwords, signInLimit, audit };
    const services: Services = { extensions, database, bus, ...accounts, deletions, presence, inventory };
    const engine = createEngine({ ...common, schema, documents, services, statusStreams, sharedRate });
    const identity = createIdentity({ config, database, sessions, audit, chargeAddress: engine.chargeAddress, log });
    opened.defer(identity.stop);
    const { authenticate, watchCredentials, credentials } = identity;
    const servers = createServers({
      ...common,
      engine,
      authenticate,
      watchCredentials,
      answerBudget: new AnswerBudget(config.limits.answerBytes),
      clientMemory: new ClientMemory(config.limits),
      statusStreams,
      readState: createStateReader(database, bus),
      timings,
    });
    opened.defer(servers.stopMetrics);
    const leaveBus = await followCommonMessages(bus, { fanOut, presence, credentials, onError });
    await inventory.open();
    const onTrimError = logFailures(log, 'the event log could not be trimmed, and will be trimmed again');
    const trimming = createTrimming(database, retention, onTrimError, parent);
    opened.defer(() => trimming.stop());
    deletions.start();
    // There may be many workers, and a third of the memory of each would be garbage of its start.
    if (parent) await collectGarbage().catch(() => {});
    const { url, metricsUrl } = await servers.listen();
    return {
      url,
      metricsUrl,
      databaseName: database.name,
      async close({ withDelay = true, isReplaced = false } = {}) {
        await servers.close(withDelay ? config.drainDelaySeconds * 1_000 : 0, isReplaced);
        leaveBus();
        inventory.close();
        const { executions } = fanOut.counts;
        log.debug({ counts: { ...fanOut.sizes, executions, busListeners: bus.listenerCount() } }, 'closed');
        await opened.disposeAsync();
      },
    };
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

function openLoggedDatabase(
  config: Config,
  log: Log,
  timings: DatabaseTimings,
  extensions: readonly LoadedExtension[],
): Promise<Database> {
  const isDebug = config.logLevel === 'debug' || config.logLevel === 'trace';
  return openDatabase(config.databaseUrl, {
    timings,
    extensions,
    isServer: true,
    ...(isDebug && { onStatement: (sql) => log.debug({ sql }, 'statement') }),
    onFault: (reason) => log.error({ reason }, 'the database is not available'),
    onRecovery: () => log.warn('the database can be written again'),
    onMissingIndexes: (reason) => log.warn({ reason }, 'searches read every row, because indexes are missing'),
  });
}

function createDocumentSource(config: Config, schema: GraphQLSchema): DocumentSource {
  if (config.trustedDocuments === undefined) return createAutomaticDocuments();
  return loadTrustedDocuments(config.trustedDocuments, createDocumentCheck(schema, config));
}

function reportBusTo(log: Log): BusOptions {
  return {
    onError: (error) => log.error({ err: error }, 'a message of the bus could not be handled'),
    onDown: (reason) => log.error({ reason }, 'the bus is down: events are read from the log more often'),
    onUp: () => log.warn('the bus is up again'),
  };
}

/** Reads the database. Calls that wait at the same time share one read, because anybody may ask for /ready. */
function createStateReader(database: Database, bus: Bus): () => Promise<DependencyStates> {
  let isReady: Promise<boolean> | undefined;
  return async () => {
    isReady ??= database.isReady().finally(() => {
      isReady = undefined;
    });
    return { database: (await isReady) ? 'up' : 'down', bus: bus.isUp() ? 'up' : 'down' };
  };
}
