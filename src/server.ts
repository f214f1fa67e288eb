import type { GraphQLSchema } from 'graphql';
import type { Config } from './config.ts';
import type { Database } from './data/database.ts';
import { findReaders } from './data/memberships.ts';
import { openDatabase } from './data/open-database.ts';
import { createTimings } from './data/timings.ts';
import { createAutomaticDocuments, type DocumentSource } from './engine/documents/persisted.ts';
import { createPipeline } from './engine/documents/pipeline.ts';
import { loadTrustedDocuments } from './engine/documents/trusted.ts';
import { createEngine } from './engine/engine.ts';
import { ClientMemory } from './engine/limits/client-memory.ts';
import { openSharedRate } from './engine/limits/shared-rate.ts';
import { OperationReports } from './engine/operation-reports.ts';
import { loadSchema } from './engine/schema.ts';
import { FixedWindow } from './fixed-window.ts';
import { auditTo } from './identity/audit.ts';
import { createAuthentication } from './identity/authentication.ts';
import { CredentialWatch } from './identity/credential-watch.ts';
import { OAuth } from './identity/oauth/oauth.ts';
import { findStoredKeys, readGivenKeys } from './identity/session/configured-keys.ts';
import { type PasswordCost, Passwords } from './identity/session/passwords.ts';
import { Sessions } from './identity/session/session.ts';
import { createSignInLimit } from './identity/session/sign-in-limit.ts';
import { ViewerCache } from './identity/viewer-cache.ts';
import { listen } from './listen.ts';
import { type Bus, type BusMessage, type BusOptions, commonTopic } from './live/bus/bus.ts';
import { openBus } from './live/bus/open-bus.ts';
import { Deletions } from './live/deletions.ts';
import { FanOut } from './live/fan-out.ts';
import { GroupCosts } from './live/group-costs.ts';
import { maxFreeInboxes } from './live/inbox/inbox-request.ts';
import { Presence } from './live/presence/presence.ts';
import { startTrimming } from './live/trimming.ts';
import { type Log, logFailures } from './log.ts';
import type { Services } from './resolvers/context.ts';
import { loadTracing } from './tracing/load-tracing.ts';
import { AnswerBudget } from './transport/admission/answer-budget.ts';
import { boundConnections, type DroppedConnections } from './transport/admission/descriptor-limit.ts';
import { closeTransport } from './transport/close.ts';
import { Drain } from './transport/drain.ts';
import type { PartStates } from './transport/http/routes.ts';
import { createHttpServer } from './transport/http/server.ts';
import { createInventory } from './transport/inventory/create-inventory.ts';
import { EventLoopDelay } from './transport/metrics/event-loop-delay.ts';
import { createMetricsServer } from './transport/metrics/metrics-port.ts';
import { createMetrics } from './transport/metrics/server-metrics.ts';
import type { TransportParts } from './transport/transport.ts';
import { createWebSocketEndpoint } from './transport/websocket/server.ts';

/** Limits the cost per event of the groups of one address or user, as a multiple of the largest operation's cost. */
const maxOperationsPerEvent = 5;

export interface RunningServer {
  url: string;
  /** The URL of the metrics, if they have a port of their own. */
  metricsUrl: string | undefined;
  /** The path of the database, or another name for the log. */
  databaseName: string;
  /**
   * Moves the clients to other servers, waits for running operations, and closes the database. Without `withDelay`
   * new connections are refused at once.
   */
  close(options?: { withDelay?: boolean }): Promise<void>;
}

/** The common messages after which the replay caches may contain erased content. */
const mayErase: ReadonlySet<BusMessage['type']> = new Set(['contentErased', 'userDeleted', 'anythingMayHaveChanged']);

/** Parts that the caller can replace. */
export interface OwnParts {
  bus?: Bus;
  /** Tests start many servers; loading the schema takes half of the time of a start. */
  schema?: GraphQLSchema;
  /** Tests sign up many accounts, and use a lower cost. */
  passwordCost?: PasswordCost;
}

/**
 * Creates all parts of the server and listens. @throws BadSetting, DatabaseUnusable, or an Error with the code
 * EADDRINUSE.
 */
export async function startServer(config: Config, log: Log, own: OwnParts = {}): Promise<RunningServer> {
  const schema = own.schema ?? loadSchema();
  const documents = findDocuments(config, schema);
  const givenKeys = readGivenKeys(config);
  const isDebug = config.logLevel === 'debug' || config.logLevel === 'trace';
  const timings = createTimings();
  const database = await openDatabase(config.databaseUrl, {
    timings,
    ...(isDebug && { onStatement: (sql) => log.debug({ sql }, 'statement') }),
    onFault: (reason) => log.error({ reason }, 'the database is not available'),
    onRecovery: () => log.warn('the database can be written again'),
  });
  // Closed in the reverse order, also after a failed start.
  const opened = new AsyncDisposableStack();
  opened.defer(() => database.close());
  try {
    const tracing = await loadTracing(config, log);
    opened.defer(() => tracing?.close());
    // The key is created after the database is opened, so that a failed start leaves no key file.
    const keys = givenKeys ?? findStoredKeys(database);
    const sessions = new Sessions(keys, config.sessionHours);
    const bus = own.bus ?? (await openBus(config, database, reportBusTo(log)));
    opened.defer(() => bus.close());
    const audit = auditTo(log);
    const signInLimit = createSignInLimit(database, config.signInAttempts);
    const onDeletionError = logFailures(log, 'deleted rows could not be removed, and will be removed later');
    const deletions = new Deletions(database, bus, onDeletionError);
    opened.defer(() => deletions.stop());
    const onError = logFailures(log, 'the live feed failed, and tries again');
    const retention = { hours: config.eventRetentionHours, count: config.eventRetentionCount };
    let logReadCount = 0;
    const onLogRead = (roomId: string) => {
      logReadCount += 1;
      log.debug({ roomId }, 'log read');
    };
    const { windowSeconds } = config.rate;
    const groupCosts = new GroupCosts({
      maxCost: maxOperationsPerEvent * config.limits.cost,
      freeReopenMs: windowSeconds * 1_000,
    });
    const access = {
      findReaders: (roomId: string, userIds: readonly string[]) => findReaders(database.db, roomId, userIds),
    };
    const freeInboxes = new FixedWindow({ limit: maxFreeInboxes, windowSeconds });
    const fanOut = new FanOut({
      database,
      bus,
      retention,
      ...access,
      groupCosts,
      freeInboxes,
      onError,
      onLogRead,
      tracing,
    });
    const askOthers = (roomIds: readonly string[]) => inventory.askForPresence(roomIds);
    const shared = { costs: groupCosts, counts: fanOut.live, onError };
    const presence = new Presence({ bus, fanOut, ...access, ...shared, askOthers });
    const sharedRate = await openSharedRate(config, keys, log);
    opened.defer(() => sharedRate?.close());
    let rateLimitedCount = 0;
    const onRateLimited = () => {
      rateLimitedCount += 1;
    };
    const operations = new OperationReports(config, log, tracing);
    const drain = new Drain();
    const eventLoopDelay = opened.adopt(new EventLoopDelay(), (delay) => delay.stop());
    const sources = { drain, operations, fanOut, presence, database, bus, groupCosts, eventLoopDelay };
    const { inventory, statusStreams, countSubscriptions, ...measuring } = createInventory({
      config,
      onError,
      ...sources,
    });
    opened.defer(measuring.stop);
    const passwords = new Passwords(own.passwordCost);
    const accounts = { sessions, passwords, signInLimit, audit };
    const services: Services = { database, bus, ...accounts, deletions, presence, inventory };
    const live = { fanOut, statusStreams, presence };
    const engine = createEngine({ schema, documents, services, ...live, config, log, sharedRate, onRateLimited });
    const oauth = config.oauth && new OAuth(config.oauth, log);
    opened.defer(() => oauth?.close());
    const viewers = new ViewerCache();
    const { chargeRefused } = engine;
    const authenticate = createAuthentication({ database, sessions, oauth, viewers, audit, chargeRefused });
    const credentials = new CredentialWatch(
      database.checks,
      logFailures(log, 'credentials could not be checked, and will be checked again'),
    );
    opened.defer(() => credentials.stop());
    const watch: TransportParts['watch'] = (viewer, end) =>
      credentials.watch(viewer, () => {
        // The viewer may have other rights when the client reconnects.
        viewers.clear();
        end();
      });
    const answerBudget = new AnswerBudget(config.limits.answerBytes);
    const clientMemory = new ClientMemory(config.limits);
    const clients = { answerBudget, clientMemory };
    const parts: TransportParts = { engine, operations, authenticate, watch, ...clients, drain, config, log };
    const webSockets = createWebSocketEndpoint(parts);
    let dropped: DroppedConnections | undefined;
    const {
      metrics,
      httpMetrics,
      stop: stopMetrics,
    } = createMetrics({
      operations,
      timings,
      bus,
      fanOut,
      countSubscriptions,
      eventLoopDelay,
      webSockets,
      log,
      countLogReads: () => logReadCount,
      countRateLimited: () => rateLimitedCount,
      countDroppedConnections: () => dropped?.count ?? 0,
    });
    opened.defer(stopMetrics);
    const hasOwnPort = config.metricsPort !== undefined;
    const http = createHttpServer(
      { ...parts, metrics: hasOwnPort ? undefined : metrics, httpMetrics, readState: createStateReader(database, bus) },
      webSockets.upgrade,
    );
    const leaveBus = await bus.subscribe(commonTopic, (message) => {
      if ('roomId' in message || 'asker' in message || message.type === 'membershipsChanged') return;
      if (mayErase.has(message.type)) fanOut.clearReplayed();
      if (message.type === 'contentErased') return;
      viewers.clear();
      if ('userId' in message || 'keyId' in message) presence.forget(message);
      if (message.type !== 'anythingMayHaveChanged') return credentials.revoke(message);
      fanOut.compareHeadsSoon();
      credentials.checkAll().catch(onError);
    });
    await inventory.open();
    const trimming = startTrimming(
      database,
      retention,
      logFailures(log, 'the event log could not be trimmed, and will be trimmed again'),
    );
    opened.defer(() => trimming.stop());
    await deletions.resume();
    const metricsServer = hasOwnPort ? createMetricsServer(config, metrics) : undefined;
    opened.defer(() => void metricsServer?.close().closeAllConnections());
    const metricsUrl = metricsServer && `${await listen(metricsServer, config.host, config.metricsPort)}/metrics`;
    const url = await listen(http, config.host, config.port);
    dropped = boundConnections(http, log, metricsServer ? [metricsServer] : []);
    return {
      url,
      metricsUrl,
      databaseName: database.name,
      async close({ withDelay = true } = {}) {
        const delayMs = withDelay ? config.drainDelaySeconds * 1_000 : 0;
        const transport = { http, webSockets, ...live, drain };
        await closeTransport(transport, { delayMs, drainSeconds: config.drainSeconds });
        leaveBus();
        inventory.close();
        log.debug({ counts: { ...fanOut.counts, busListeners: bus.listenerCount() } }, 'closed');
        await opened.disposeAsync();
      },
    };
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

function findDocuments(config: Config, schema: GraphQLSchema): DocumentSource {
  if (config.trustedDocuments === undefined) return createAutomaticDocuments();
  return loadTrustedDocuments(config.trustedDocuments, createPipeline(schema, config));
}

function reportBusTo(log: Log): BusOptions {
  return {
    onError: (error) => log.error({ err: error }, 'a message of the bus could not be handled'),
    onDown: (reason) => log.error({ reason }, 'the bus is down: events are read from the log more often'),
    onUp: () => log.warn('the bus is up again'),
  };
}

/** Reads the database. Calls that wait at the same time share one read, because anybody may ask for /ready. */
function createStateReader(database: Database, bus: Bus): () => Promise<PartStates> {
  let isReady: Promise<boolean> | undefined;
  return async () => {
    isReady ??= database.isReady().finally(() => {
      isReady = undefined;
    });
    return { database: (await isReady) ? 'up' : 'down', bus: bus.isUp() ? 'up' : 'down' };
  };
}
