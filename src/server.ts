import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { GraphQLSchema } from 'graphql';
import { BadSetting, type Config } from './config.ts';
import type { Database } from './data/database.ts';
import { openDatabase } from './data/open-database.ts';
import { findReaders } from './data/rooms.ts';
import { findDatabaseId } from './data/settings.ts';
import { createAutomaticDocuments, type DocumentSource, loadTrustedDocuments } from './engine/documents/persisted.ts';
import { createEngine } from './engine/engine.ts';
import { ClientMemory } from './engine/limits/client-memory.ts';
import { RedisWindows } from './engine/limits/redis-windows.ts';
import { loadSchema } from './engine/schema.ts';
import { auditTo } from './identity/audit.ts';
import { createAuthentication } from './identity/authentication.ts';
import { CredentialWatch } from './identity/credential-watch.ts';
import { OAuth } from './identity/oauth/oauth.ts';
import { Sessions } from './identity/session/session.ts';
import {
  createSessionKeys,
  loadSessionKeys,
  parseSessionKeys,
  type SessionKeys,
} from './identity/session/session-key.ts';
import { createSignInLimit } from './identity/session/sign-in-limit.ts';
import { ViewerCache } from './identity/viewer-cache.ts';
import { type Bus, type BusMessage, type BusOptions, commonTopic } from './live/bus/bus.ts';
import { createMemoryBus } from './live/bus/memory.ts';
import { openPostgresBus } from './live/bus/postgres.ts';
import { openRedisBus } from './live/bus/redis.ts';
import { FanOut } from './live/fan-out.ts';
import { startTrimming } from './live/trimming.ts';
import type { Log } from './log.ts';
import type { Services } from './resolvers/context.ts';
import { AnswerBudget } from './transport/admission/answer-budget.ts';
import { boundConnections, type DroppedConnections } from './transport/admission/descriptor-limit.ts';
import { Drain } from './transport/drain.ts';
import type { PartStates } from './transport/http/routes.ts';
import { createHttpServer } from './transport/http/server.ts';
import { Metrics } from './transport/metrics.ts';
import type { TransportParts } from './transport/transport.ts';
import { createWebSocketEndpoint, type WebSocketEndpoint } from './transport/websocket/server.ts';

/** The maximum time for running operations to finish after all long connections were asked to close. */
const closeGraceMs = 5_000;
const sweepMs = 50;
/** A database that several nodes may share: a session key that one node creates would be unknown to the others. */
const serverScheme = /^postgres(ql)?:/;
/** Limits the cost per event of the groups of one address or user, as a multiple of the largest operation's cost. */
const maxOperationsPerEvent = 5;

export interface RunningServer {
  url: string;
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
}

/**
 * Creates all parts of the server and listens. @throws BadSetting, DatabaseUnusable, or an Error with the code
 * EADDRINUSE.
 */
export async function startServer(config: Config, log: Log, own: OwnParts = {}): Promise<RunningServer> {
  const schema = loadSchema();
  const documents = findDocuments(config, schema);
  const givenKeys = readGivenKeys(config);
  const isDebug = config.logLevel === 'debug' || config.logLevel === 'trace';
  const database = await openDatabase(config.databaseUrl, {
    ...(isDebug && { onStatement: (sql) => log.debug({ sql }, 'statement') }),
    onFault: (reason) => log.error({ reason }, 'the database is not available'),
    onRecovery: () => log.warn('the database can be written again'),
  });
  // Closed in the reverse order, also after a failed start.
  const opened = new AsyncDisposableStack();
  opened.defer(() => database.close());
  try {
    // The key is created after the database is opened, so that a failed start leaves no key file.
    const keys = givenKeys ?? findStoredKeys(database);
    const sessions = new Sessions(keys, config.sessionHours);
    const bus = own.bus ?? (await openBus(config, database, log));
    opened.defer(() => bus.close());
    const audit = auditTo(log);
    const signInLimit = createSignInLimit(database, config.signInAttempts);
    const services: Services = { database, bus, sessions, signInLimit, audit };
    const logFailure = (message: string) => (error: unknown) => log.error({ err: error }, message);
    const onError = logFailure('the live feed failed, and tries again');
    const retention = { hours: config.eventRetentionHours, count: config.eventRetentionCount };
    let logReadCount = 0;
    const onLogRead = (roomId: string) => {
      logReadCount += 1;
      log.debug({ roomId }, 'log read');
    };
    const fanOut = new FanOut({
      database,
      bus,
      retention,
      findReaders: (roomId, userIds) => findReaders(database.db, roomId, userIds),
      groupCosts: {
        maxCost: maxOperationsPerEvent * config.limits.cost,
        freeReopenMs: config.rate.windowSeconds * 1_000,
      },
      onError,
      onLogRead,
    });
    const sharedRate = await openSharedRate(config, keys, log);
    opened.defer(() => sharedRate?.close());
    const engine = createEngine({ schema, documents, services, fanOut, config, log, sharedRate });
    const oauth = config.oauth && new OAuth(config.oauth, log);
    opened.defer(() => oauth?.close());
    const viewers = new ViewerCache();
    const { chargeRefused } = engine;
    const authenticate = createAuthentication({ database, sessions, oauth, viewers, audit, chargeRefused });
    const credentials = new CredentialWatch(
      database.db,
      logFailure('credentials could not be checked, and will be checked again'),
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
    const drain = new Drain();
    const parts: TransportParts = { engine, authenticate, watch, answerBudget, clientMemory, drain, config, log };
    const webSockets = createWebSocketEndpoint(parts);
    let dropped: DroppedConnections | undefined;
    const metrics = new Metrics();
    opened.defer(() => metrics.stop());
    countLiveParts(metrics, { bus, fanOut, webSockets });
    metrics.counter('postroom_log_reads_total', "Reads of a room's log.", () => logReadCount);
    countDropped(metrics, log, () => dropped?.count ?? 0);
    const http = createHttpServer({ ...parts, metrics, readState: () => readState(database, bus) }, webSockets.upgrade);
    const leaveBus = await bus.subscribe(commonTopic, (message) => {
      if ('roomId' in message) return;
      if (mayErase.has(message.type)) fanOut.clearReplayed();
      if (message.type === 'contentErased') return;
      viewers.clear();
      if (message.type !== 'anythingMayHaveChanged') return credentials.revoke(message);
      fanOut.compareHeadsSoon();
      credentials.checkAll().catch(onError);
    });
    const trimming = startTrimming(
      database,
      retention,
      logFailure('the event log could not be trimmed, and will be trimmed again'),
    );
    opened.defer(() => trimming.stop());
    const url = await listen(http, config);
    dropped = boundConnections(http, log);
    return {
      url,
      databaseName: database.name,
      async close({ withDelay = true } = {}) {
        drain.begin();
        const delayMs = withDelay ? config.drainDelaySeconds * 1_000 : 0;
        if (delayMs > 0) await wait(delayMs);
        const closed = new Promise((done) => http.close(done));
        webSockets.stopAccepting();
        // A client may keep its connection open after its stream has ended, so idle connections are closed repeatedly.
        const sweeping = setInterval(() => http.closeIdleConnections(), sweepMs);
        await drain.closeAll(config.drainSeconds);
        await Promise.race([closed, wait(closeGraceMs, undefined, { ref: false })]);
        clearInterval(sweeping);
        await webSockets.close();
        await fanOut.close();
        http.closeAllConnections();
        await closed;
        leaveBus();
        log.debug({ counts: { ...fanOut.counts, busListeners: bus.listenerCount() } }, 'closed');
        await opened.disposeAsync();
      },
    };
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

/** Undefined if this node counts the rate by itself. */
async function openSharedRate(
  { redisUrl, rate: { limit, windowSeconds } }: Config,
  keys: SessionKeys,
  log: Log,
): Promise<RedisWindows | undefined> {
  if (redisUrl === undefined || limit === 0) return undefined;
  return RedisWindows.open({
    url: redisUrl,
    windowSeconds,
    // All nodes have the same session key, and other installations have another.
    prefix: `postroom:rate:${keys.id}:`,
    onDown: (reason) =>
      log.warn({ reason }, 'Redis does not answer: each node counts the rate of operations by itself'),
    onUp: () => log.warn('Redis answers again: all nodes share the rate of operations'),
  });
}

function findDocuments({ trustedDocuments }: Config, schema: GraphQLSchema): DocumentSource {
  return trustedDocuments === undefined ? createAutomaticDocuments() : loadTrustedDocuments(trustedDocuments, schema);
}

/** Redis if there is one; else PostgreSQL, if it is the database; else the bus of this process alone. */
async function openBus({ redisUrl, databaseUrl }: Config, database: Database, log: Log): Promise<Bus> {
  const options: BusOptions = {
    onError: (error) => log.error({ err: error }, 'a message of the bus could not be handled'),
    onDown: (reason) => log.error({ reason }, 'the bus is down: events are read from the log more often'),
    onUp: () => log.warn('the bus is up again'),
  };
  if (redisUrl) return openRedisBus(redisUrl, { ...options, databaseId: await findDatabaseId(database) });
  return /^postgres(ql)?:/.test(databaseUrl) ? openPostgresBus(databaseUrl, options) : createMemoryBus(options);
}

async function readState(database: Database, bus: Bus): Promise<PartStates> {
  return { database: (await database.isReady()) ? 'up' : 'down', bus: bus.isUp() ? 'up' : 'down' };
}

/** The session key that is stored with the database. Without a folder it lasts as long as the database: until the end. */
function findStoredKeys({ folder }: Database): SessionKeys {
  return folder === undefined ? createSessionKeys() : loadSessionKeys(join(folder, 'session-key.pem'));
}

function readGivenKeys({ sessionKey, databaseUrl }: Config): SessionKeys | undefined {
  if (sessionKey === undefined) {
    if (!serverScheme.test(databaseUrl)) return undefined;
    const rule = 'needs SESSION_KEY, the same for all nodes; `openssl genpkey -algorithm ed25519` creates one';
    throw new BadSetting('DATABASE_URL', databaseUrl, rule);
  }
  try {
    return parseSessionKeys(sessionKey);
  } catch {
    throw new BadSetting('SESSION_KEY', '(hidden)', 'must be an Ed25519 private key in PEM (PKCS #8)');
  }
}

interface LiveParts {
  bus: Bus;
  fanOut: FanOut;
  webSockets: WebSocketEndpoint;
}

function countLiveParts(metrics: Metrics, { bus, fanOut, webSockets }: LiveParts): void {
  metrics.gauge('postroom_feeds', 'Rooms with subscribers.', () => fanOut.counts.feeds);
  metrics.gauge('postroom_groups', 'Groups of equal subscriptions.', () => fanOut.counts.groups);
  metrics.gauge('postroom_subscribers', 'Live subscriptions.', () => fanOut.counts.subscribers);
  metrics.counter(
    'postroom_events_rendered_total',
    'Executions of a selection for an event.',
    () => fanOut.counts.executions,
  );
  metrics.gauge('postroom_bus_listeners', 'Listeners on the bus, including one of the process itself.', () =>
    bus.listenerCount(),
  );
  metrics.gauge('postroom_bus_up', 'Whether messages of other processes arrive.', () => Number(bus.isUp()));
  metrics.gauge('postroom_websockets', 'Open WebSockets.', () => webSockets.size);
}

function countDropped(metrics: Metrics, log: Log, countConnections: () => number): void {
  metrics.counter(
    'postroom_dropped_connections_total',
    'Connections dropped because no file descriptor was left.',
    countConnections,
  );
  metrics.counter(
    'postroom_log_lines_dropped_total',
    'Log lines dropped because standard error was not read or could not be written.',
    () => log.countDropped(),
  );
}

function listen(http: Server, { host, port }: Config): Promise<string> {
  return new Promise((resolve, reject) => {
    http.once('error', reject);
    http.listen({ host, port, backlog: 4_096 }, () => {
      http.off('error', reject);
      const { port: actual } = http.address() as AddressInfo;
      resolve(`http://${host.includes(':') ? `[${host}]` : host}:${actual}`);
    });
  });
}
