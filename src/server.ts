import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { GraphQLSchema } from 'graphql';
import { BadSetting, type Config } from './config.ts';
import { openDatabase } from './data/open-database.ts';
import { findReaders } from './data/rooms.ts';
import type { Services } from './engine/context.ts';
import { createEngine, type Engine } from './engine/engine.ts';
import { Retained } from './engine/limits/retained.ts';
import { createAutomaticDocuments, type DocumentSource, loadTrustedDocuments } from './engine/persisted.ts';
import { loadSchema } from './engine/schema.ts';
import { ClientError } from './errors.ts';
import { type Audit, auditTo } from './identity/audit.ts';
import { CredentialWatch } from './identity/credential-watch.ts';
import { type CredentialParts, findViewer } from './identity/credentials.ts';
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
import { type Bus, commonTopic } from './live/bus/bus.ts';
import { createMemoryBus } from './live/bus/memory.ts';
import { FanOut } from './live/fan-out.ts';
import { startTrimming } from './live/trimming.ts';
import type { Log } from './log.ts';
import { boundConnections, type DroppedConnections } from './transport/admission/descriptor-limit.ts';
import { UnsentAnswers } from './transport/admission/unsent-answers.ts';
import { createHttpServer } from './transport/http/server.ts';
import { counter, createMetrics, gauge, type Metric } from './transport/metrics.ts';
import type { TransportParts } from './transport/transport.ts';
import { createWebSocketEndpoint, type WebSocketEndpoint } from './transport/websocket/server.ts';

/** The maximum time for running requests to finish when the server shuts down. */
const closeGraceMs = 5_000;
const sweepMs = 50;
/** Limits the cost per event of the groups of one address or user, as a multiple of the largest operation's cost. */
const maxOperationsPerEvent = 5;

export interface RunningServer {
  url: string;
  /** Ends every stream, waits for running requests, and closes the database. */
  close(): Promise<void>;
}

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
  const givenKey = findGivenKey(config);
  const database = await openDatabase(config.databaseUrl, {
    onStatement: (sql) => log.debug({ sql }, 'statement'),
    onFault: (reason) => log.error({ reason }, 'the database is not available'),
    onRecovery: () => log.warn('the database can be written again'),
  });
  try {
    // The key is created after the database is opened, so that a failed start leaves no key file.
    const sessions = new Sessions(givenKey ?? findKeptKey(config), config.sessionHours);
    const { bus = createMemoryBus() } = own;
    const audit = auditTo(log);
    const signInLimit = createSignInLimit(config.signInAttempts);
    const services: Services = { database, bus, sessions, signInLimit, audit };
    const onError = (error: unknown) => log.error({ err: error }, 'the live feed failed, and tries again');
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
        knownMs: config.rate.windowSeconds * 1_000,
      },
      onError,
      onLogRead,
    });
    const engine = createEngine({ schema, documents, services, fanOut, config, log });
    const oauth = config.oauth && new OAuth(config.oauth, log);
    const verified = new ViewerCache();
    const authenticate = createAuthentication({ database, sessions, oauth }, { verified, engine, audit });
    const credentials = new CredentialWatch(database.db, onError);
    const watch: TransportParts['watch'] = (viewer, end) =>
      credentials.watch(viewer, () => {
        // The viewer may have other rights when the client reconnects.
        verified.forget();
        end();
      });
    const unsent = new UnsentAnswers(config.limits.answerBytes);
    const retained = new Retained(config.limits);
    const parts: TransportParts = { engine, authenticate, watch, unsent, retained, config, log };
    const webSockets = createWebSocketEndpoint(parts);
    let dropped: DroppedConnections | undefined;
    const metrics = createMetrics(() =>
      readCounts({ bus, fanOut, webSockets, logReadCount, dropped: dropped?.count ?? 0, log }),
    );
    const http = createHttpServer({ ...parts, metrics, isReady: () => database.isReady() }, webSockets.upgrade);
    const leaveBus = await bus.subscribe(commonTopic, (message) => {
      if (message.type === 'contentErased' || message.type === 'userDeleted') fanOut.forgetReplayed();
      if (message.type === 'contentErased' || 'roomId' in message) return;
      verified.forget();
      credentials.endBy(message);
    });
    const trimming = startTrimming(database, retention, onError);
    const url = await listen(http, config);
    dropped = boundConnections(http, log);
    return {
      url,
      async close() {
        const closed = new Promise((done) => http.close(done));
        await Promise.all([webSockets.close(), fanOut.close()]);
        // A client may keep its connection open after its stream has ended, so idle connections are closed repeatedly.
        const sweeping = setInterval(() => http.closeIdleConnections(), sweepMs);
        await Promise.race([closed, wait(closeGraceMs, undefined, { ref: false })]);
        clearInterval(sweeping);
        http.closeAllConnections();
        await Promise.all([closed, trimming.stop()]);
        leaveBus();
        log.debug({ counts: { ...fanOut.counts, busListeners: bus.listenerCount() } }, 'closed');
        await bus.close();
        metrics.stop();
        credentials.stop();
        oauth?.close();
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Charges refused credentials to the client's address and audits them, within the rate of the address. */
function createAuthentication(
  parts: CredentialParts,
  { verified, engine, audit }: { verified: ViewerCache; engine: Engine; audit: Audit },
): TransportParts['authenticate'] {
  return async (authorization, address) => {
    try {
      if (authorization === undefined) return null;
      return await verified.find(authorization, () => findViewer(parts, authorization));
    } catch (error) {
      if (error instanceof ClientError && error.code === 'UNAUTHENTICATED') {
        engine.chargeRefused(address);
        audit({ event: 'credentialsRefused', reason: error.message, address });
      }
      throw error;
    }
  };
}

function findDocuments({ trustedDocuments }: Config, schema: GraphQLSchema): DocumentSource {
  return trustedDocuments === undefined ? createAutomaticDocuments() : loadTrustedDocuments(trustedDocuments, schema);
}

function findKeptKey({ databaseUrl }: Config): SessionKeys {
  const path = databaseUrl.slice('sqlite:'.length);
  if (path === ':memory:') return createSessionKeys();
  return loadSessionKeys(join(dirname(resolve(path)), 'session-key.pem'));
}

function findGivenKey({ sessionKey }: Config): SessionKeys | undefined {
  if (sessionKey === undefined) return undefined;
  try {
    return parseSessionKeys(sessionKey);
  } catch {
    throw new BadSetting('SESSION_KEY', '(hidden)', 'it is an Ed25519 private key in PEM (PKCS #8)');
  }
}

interface Counted {
  bus: Bus;
  fanOut: FanOut;
  webSockets: WebSocketEndpoint;
  logReadCount: number;
  dropped: number;
  log: Log;
}

function readCounts({ bus, fanOut, webSockets, logReadCount, dropped, log }: Counted): Metric[] {
  const { feeds, groups, subscribers, executions } = fanOut.counts;
  return [
    gauge('postroom_feeds', 'Rooms that someone follows.', feeds),
    gauge('postroom_groups', 'Selections of theirs, each executed once an event.', groups),
    gauge('postroom_subscribers', 'Live subscriptions.', subscribers),
    gauge('postroom_bus_listeners', 'Listeners on the bus; one is the process itself.', bus.listenerCount()),
    gauge('postroom_websockets', 'Open WebSockets.', webSockets.size),
    counter('postroom_dropped_connections_total', 'Connections dropped because no file descriptor was left.', dropped),
    counter('postroom_log_reads_total', "Reads of a room's log.", logReadCount),
    counter('postroom_events_rendered_total', 'Executions of a selection for an event.', executions),
    counter(
      'postroom_log_lines_dropped_total',
      'Log lines dropped because standard error was not read or could not be written.',
      log.countDropped(),
    ),
  ];
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
