import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from './client.ts';

/* The floods. Each runs until its signal is aborted. */

export interface Flood {
  port: number;
  /** The addresses of the flood. The server has received nothing from them before. */
  addresses: readonly string[];
  /** The id of a room with long posts. */
  room: string;
  signal: AbortSignal;
  /** The clients whose connections are open. */
  open: Set<Client>;
  count(name: string, by?: number): void;
}

export type Kind = keyof typeof kinds;

export const kinds = {
  '10,000 pings on a socket': (flood: Flood) => floodWithMessages(flood, 10_000, () => ({ type: 'ping' })),
  '1,000 subscribes on a socket': (flood: Flood) =>
    floodWithMessages(flood, 1_000, (index) => ({
      type: 'subscribe',
      id: String(index),
      payload: subscription(flood),
    })),
  '5,000 sockets without init': (flood: Flood) => openSockets({ ...flood, addresses: flood.addresses.slice(0, 1) }),
  '5,000 sockets without init, from 5 addresses': openSockets,
  '40 × 16,000 fragments': fragments,
  '500 slow headers': (flood: Flood) => sendSlowly(flood, (client) => client.sendHead('POST /graphql'), 'x: y\r\n'),
  '500 slow bodies': (flood: Flood) =>
    sendSlowly(flood, (client) => client.sendHead('POST /graphql', longBody), ' '.repeat(1_000)),
  '500 bodies withheld': (flood: Flood) =>
    sendSlowly(flood, (client) => {
      client.sendHead('POST /graphql', longBody);
      client.send(' '.repeat(bodyBytes - 1));
    }),
  '100 slow reads over HTTP': slowHttpReads,
  '100 slow reads over WebSocket': slowWebSocketReads,
  'hostile documents': hostileDocuments,
} satisfies Record<string, (flood: Flood) => Promise<void>>;

const bodyBytes = 990_000;
const longBody = `Content-Type: application/json\r\nContent-Length: ${bodyBytes}\r\n\r\n`;
const init = { type: 'connection_init' };

/** More messages than a socket may send at once. */
const burst = 250;

function openClient(
  { port, addresses, open, count }: Flood,
  index: number,
  onAcknowledged = (_client: Client) => {},
): Client {
  const address = addresses[index % addresses.length] ?? '127.0.0.1';
  const onEnd = (outcome: string) => {
    open.delete(client);
    count(outcome);
  };
  const client = new Client({ port, address, onEnd, onAcknowledged: () => onAcknowledged(client) });
  open.add(client);
  return client;
}

/** Sends all messages on one socket without a pause. When the socket is closed, the next socket sends the rest. */
async function floodWithMessages(flood: Flood, size: number, message: (index: number) => object): Promise<void> {
  while (!flood.signal.aborted) {
    for (let sent = 0; sent < size && !flood.signal.aborted; sent += burst) {
      const client = openClient(flood, 0, () => {
        client.sendMessages(Array.from({ length: burst }, (_, index) => message(index)));
        flood.count('messages', burst);
      });
      client.upgrade();
      client.sendMessages([init]);
      await client.ended;
    }
  }
}

/** Calls `work` at a constant rate. */
async function pace({ signal }: Flood, perSecond: number, work: (index: number) => void): Promise<void> {
  const startedAt = performance.now();
  for (let done = 0; !signal.aborted; await sleep(10)) {
    for (const due = ((performance.now() - startedAt) / 1_000) * perSecond; done < due; done += 1) work(done);
  }
}

/** Opens idle sockets, and replaces those that the server closes. */
async function openSockets(flood: Flood): Promise<void> {
  await pace(flood, 2_000, (index) => {
    if (flood.open.size < 5_000) openClient(flood, index).upgrade();
  });
}

/** Sends one message in 16,000 fragments on each of 40 sockets, once per second. */
async function fragments(flood: Flood): Promise<void> {
  const first = Buffer.from([0x01, 0x81, 0, 0, 0, 0, 0x20]);
  const next = Buffer.from([0x00, 0x81, 0, 0, 0, 0, 0x20]);
  const message = Buffer.concat([first, ...Array.from({ length: 15_999 }, () => next)]);
  while (!flood.signal.aborted) {
    const clients = Array.from({ length: 40 }, (_, index) => openClient(flood, index));
    for (const client of clients) {
      client.upgrade();
      client.sendMessages([init]);
      client.send(message);
    }
    await Promise.all([...clients.map(({ ended }) => ended), sleep(1_000)]);
  }
}

/** Keeps 500 connections open. Each calls `begin`, and then sends `piece` twice per second. */
async function sendSlowly(flood: Flood, begin: (client: Client) => void, piece?: string): Promise<void> {
  let opened = 0;
  for (; !flood.signal.aborted; await sleep(500)) {
    if (piece) for (const client of flood.open) client.send(piece);
    while (flood.open.size < 500 && !flood.signal.aborted) {
      const client = openClient(flood, opened);
      begin(client);
      opened += 1;
      if (opened % 25 === 0) await sleep(10);
    }
  }
}

/** At most 100 requests per minute and address, because of the rate limit. */
async function slowHttpReads(flood: Flood): Promise<void> {
  const body = JSON.stringify({ query: longQuery(flood) });
  const clients = Array.from({ length: 100 }, (_, index) => openClient(flood, index));
  for (const client of clients) client.stopReading();
  await pace(flood, 100, (index) => {
    const client = clients[index % clients.length];
    client?.sendHead(
      'POST /graphql',
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    flood.count('requests');
  });
}

async function slowWebSocketReads(flood: Flood): Promise<void> {
  const clients = Array.from({ length: 100 }, (_, index) => openClient(flood, index));
  for (const client of clients) {
    client.upgrade();
    client.sendMessages([init]);
    client.stopReading();
  }
  await pace(flood, 100, (index) => {
    clients[index % clients.length]?.sendMessages([
      { type: 'subscribe', id: String(index), payload: { query: longQuery(flood) } },
    ]);
    flood.count('requests');
  });
}

/** Sends the next document when the previous document is answered. */
async function hostileDocuments(flood: Flood): Promise<void> {
  for (let index = 0; !flood.signal.aborted; index += 1) {
    const query = hostile[index % hostile.length]?.(index) ?? '';
    const body = JSON.stringify({ query });
    const client = openClient(flood, index);
    client.sendHead(
      'POST /graphql',
      `Content-Type: application/json\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await client.ended;
  }
}

/** The index makes each document unique. */
const hostile = [
  (index: number) => `query Q${index} ${'{a'.repeat(3_000)}`,
  (index: number) => `query Q${index} { ${'viewer { id } '.repeat(480)} }`,
  (index: number) => `query Q${index} { ${repeat(480, (n) => `a${n}: viewer { id }`)} }`,
  (index: number) =>
    `query Q${index} { viewer { ...F120 } } fragment F0 on User { id } ${repeat(120, (n) => `fragment F${n + 1} on User { ...F${n} ...F${n} }`)}`,
  (index: number) =>
    `query Q${index} { ${'__schema { types { fields { type { '.repeat(100)} name ${'} } } } '.repeat(100)} }`,
  (index: number) => `query Q${index} { users(limit: ${'9'.repeat(50_000)}) { data { id } } }`,
  (index: number) => `query Q${index} (${repeat(300, (n) => `$v${n}: Int`)}) { viewer { id } }`,
];

function repeat(times: number, text: (index: number) => string): string {
  return Array.from({ length: times }, (_, index) => text(index)).join(' ');
}

function subscription({ room }: Flood): object {
  return { query: 'subscription ($room: ID!) { roomEvents(room: $room) { cursor } }', variables: { room } };
}

function longQuery({ room }: Flood): string {
  return `{ posts(limit: 100, filter: { room: "${room}" }) { data { id title body } } }`;
}
