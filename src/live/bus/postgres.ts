import { Socket } from 'node:net';
import { Client } from 'pg';
import type { Bus, BusOptions } from './bus.ts';
import type { BusConnection, BusDriver, ConnectionHandlers } from './checked-connection.ts';
import { NetworkBus } from './network-bus.ts';
import type { EncodedMessage } from './wire-format.ts';

/** LISTEN per room would cost a round trip per subscription; listeners filter by topic. A channel belongs to one database. */
const channel = 'postroom';
/** The limit of PostgreSQL is 8,000 bytes, including a final NUL. */
const maxPayloadBytes = 7_999;
/** A server that hangs is found by the pings of the bus. */
const statementTimeoutMs = 5_000;

/**
 * A bus over LISTEN and NOTIFY of the database. It notifies after the commit, on its own connection: within the transaction,
 * a lock of the whole server would be held over each commit. It needs direct connections: behind PgBouncer in
 * transaction mode the bus is down.
 */
export function openPostgresBus(databaseUrl: string, options: BusOptions): Promise<Bus> {
  const driver: BusDriver = {
    kind: 'postgres',
    maxMessageBytes: maxPayloadBytes,
    maxInFlight: 1,
    connect: (handlers, signal) => connect(databaseUrl, handlers, signal),
  };
  return new NetworkBus(driver, options).open();
}

async function connect(
  databaseUrl: string,
  { receive, onLost }: ConnectionHandlers,
  signal: AbortSignal,
): Promise<BusConnection> {
  const open = () => openClient(databaseUrl, onLost, signal);
  const [listening, notifying] = await Promise.all([open(), open()]);
  listening.on('notification', ({ payload = '' }) => {
    for (const text of payload.split('\n')) receive(text);
  });
  await listening.query(`listen ${channel}`);
  return {
    async send(batch) {
      const text = 'select pg_notify($1, payload) from unnest($2::text[]) as payload';
      await notifying.query({ name: 'notify', text, values: [channel, inPayloads(batch)] });
    },
    async subscribe() {},
    async unsubscribe() {},
  };
}

/** The client's socket is destroyed by `signal`: a server that hangs cannot be asked to close the connection. */
async function openClient(
  connectionString: string,
  onLost: (error: Error) => void,
  signal: AbortSignal,
): Promise<Client> {
  const sockets: Socket[] = [];
  const stream = () => {
    const socket = new Socket();
    sockets.push(socket);
    return socket;
  };
  signal.addEventListener('abort', () => {
    for (const socket of sockets) socket.destroy();
  });
  const client = new Client({
    connectionString,
    stream,
    application_name: 'postroom bus',
    keepAlive: true,
    statement_timeout: statementTimeoutMs,
  });
  client.on('error', onLost);
  client.on('end', () => onLost(new Error('the connection was closed')));
  await client.connect();
  // The listening connection sends no statements after its first one.
  await client.query('set idle_session_timeout = 0');
  return client;
}

/** Joins messages by line breaks, up to the maximum size of a payload. */
function inPayloads(batch: readonly EncodedMessage[]): string[] {
  const payloads: string[] = [];
  let texts: string[] = [];
  let bytes = 0;
  for (const message of batch) {
    if (bytes + message.bytes > maxPayloadBytes) {
      payloads.push(texts.join('\n'));
      texts = [];
      bytes = 0;
    }
    texts.push(message.text);
    bytes += message.bytes + 1;
  }
  return [...payloads, texts.join('\n')];
}
