import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { BadSetting, type Config } from './config.ts';
import { type Database, openDatabase } from './data/database.ts';
import { readEpoch } from './data/events.ts';
import type { Services } from './engine/context.ts';
import { createEngine } from './engine/engine.ts';
import { loadSchema } from './engine/schema.ts';
import { findViewer } from './identity/credentials.ts';
import { Sessions } from './identity/session.ts';
import { createSessionKey, loadSessionKey, parseSessionKey, type SessionKey } from './identity/session-key.ts';
import { usersTopic } from './live/bus.ts';
import { createMemoryBus } from './live/bus-memory.ts';
import { FanOut } from './live/fan-out.ts';
import { startTrimming } from './live/trimming.ts';
import type { Log } from './log.ts';
import { createHttpHandler } from './transport/http.ts';
import type { TransportParts } from './transport/transport.ts';
import { createWebSocketDoor } from './transport/websocket.ts';

export interface RunningServer {
  url: string;
  /** Ends every stream, finishes what runs, and closes the database. */
  close(): Promise<void>;
}

/** Puts the parts together and listens. @throws BadSetting, DatabaseUnusable, or an Error with the code EADDRINUSE. */
export async function startServer(config: Config, log: Log): Promise<RunningServer> {
  const schema = loadSchema();
  const sessions = new Sessions(findSessionKey(config), config.sessionHours);
  const database = await openDatabase(config.databaseUrl, { onStatement: (sql) => log.debug({ sql }, 'statement') });
  try {
    const bus = createMemoryBus();
    const epoch = await readEpoch(database.db);
    const services: Services = { database, bus, sessions, epoch };
    const onError = (error: unknown) => log.error({ err: error }, 'the live feed failed, and tries again');
    const retention = { hours: config.eventRetentionHours, count: config.eventRetentionCount };
    const onLogRead = (roomId: string) => log.debug({ roomId }, 'log read');
    const fanOut = new FanOut({ database, bus, retention, epoch, onError, onLogRead });
    const engine = createEngine({ schema, services, fanOut, config, log });
    const authenticate = (authorization: string | undefined) => findViewer(database.db, sessions, authorization);
    const parts: TransportParts = { engine, authenticate, config, log };
    const door = createWebSocketDoor(parts);
    const http = createServer(createHttpHandler({ ...parts, isReady: () => isReady(database) }));
    http.on('upgrade', (request, socket, head) => {
      const [path] = (request.url ?? '').split('?', 1);
      if (path === '/graphql') door.upgrade(request, socket as Socket, head);
      else socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n');
    });
    await bus.subscribe(usersTopic, (message) => {
      if (message.type !== 'userDeleted') return;
      fanOut.forgetReplayed();
      door.endUser(message.userId);
    });
    const trimming = startTrimming(database, retention, onError);
    const url = await listen(http, config);
    return {
      url,
      async close() {
        const closed = new Promise((done) => http.close(done));
        await door.close();
        http.closeAllConnections();
        await Promise.all([closed, trimming.stop(), bus.close()]);
        log.debug({ counts: fanOut.counts }, 'closed');
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

function findSessionKey({ sessionKey, databaseUrl }: Config): SessionKey {
  if (sessionKey === undefined) {
    const path = databaseUrl.slice('sqlite:'.length);
    if (path === ':memory:') return createSessionKey();
    return loadSessionKey(join(dirname(resolve(path)), 'session-key.pem'));
  }
  try {
    return parseSessionKey(sessionKey);
  } catch {
    throw new BadSetting('SESSION_KEY', '(hidden)', 'it is an Ed25519 private key in PEM (PKCS #8)');
  }
}

async function isReady({ db }: Database): Promise<boolean> {
  try {
    await readEpoch(db);
    return true;
  } catch {
    return false;
  }
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
