import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from './client.ts';

/* What each flood does until it is told to stop. */

export interface Flood {
  port: number;
  /** So many addresses are at its disposal, from which nothing came so far. */
  addresses: readonly string[];
  /** Of a room with long posts. */
  room: string;
  signal: AbortSignal;
  /** Everything that is still open. */
  open: Set<Client>;
  count(what: string, by?: number): void;
}

export type Kind = keyof typeof kinds;

export const kinds = {
  '10,000 pings on a socket': (flood: Flood) => flooding(flood, 10_000, () => ({ type: 'ping' })),
  '1,000 subscribes on a socket': (flood: Flood) =>
    flooding(flood, 1_000, (index) => ({ type: 'subscribe', id: String(index), payload: subscription(flood) })),
  '5,000 sockets without init': (flood: Flood) => idle({ ...flood, addresses: flood.addresses.slice(0, 1) }),
  '5,000 sockets without init, from 5 addresses': idle,
  '40 × 16,000 fragments': fragments,
  '500 slow headers': (flood: Flood) => drip(flood, (client) => client.sendHead('POST /graphql'), 'x: y\r\n'),
  '500 slow bodies': (flood: Flood) =>
    drip(flood, (client) => client.sendHead('POST /graphql', longBody), ' '.repeat(1_000)),
  '500 bodies withheld': (flood: Flood) =>
    drip(flood, (client) => {
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

/** Longer than what a socket may send at once. */
const burst = 250;

function openClient(
  { port, addresses, open, count }: Flood,
  index: number,
  onAcknowledged = (_client: Client) => {},
): Client {
  const address = addresses[index % addresses.length] ?? '127.0.0.1';
  const onEnd = (how: string) => {
    open.delete(client);
    count(how);
  };
  const client = new Client({ port, address, onEnd, onAcknowledged: () => onAcknowledged(client) });
  open.add(client);
  return client;
}

/** All at once on one socket; whenever it is closed, the rest on the next. */
async function flooding(flood: Flood, size: number, message: (index: number) => object): Promise<void> {
  while (!flood.signal.aborted) {
    for (let sent = 0; sent < size && !flood.signal.aborted; sent += burst) {
      const client = openClient(flood, 0, () => {
        client.say(Array.from({ length: burst }, (_, index) => message(index)));
        flood.count('messages', burst);
      });
      client.upgrade();
      client.say([init]);
      await client.ended;
    }
  }
}

/** Does `work` so many times a second. */
async function pace({ signal }: Flood, perSecond: number, work: (index: number) => void): Promise<void> {
  const startedAt = performance.now();
  for (let done = 0; !signal.aborted; await sleep(10)) {
    for (const due = ((performance.now() - startedAt) / 1_000) * perSecond; done < due; done += 1) work(done);
  }
}

/** Those that are closed come again. */
async function idle(flood: Flood): Promise<void> {
  await pace(flood, 2_000, (index) => {
    if (flood.open.size < 5_000) openClient(flood, index).upgrade();
  });
}

/** Once a second. */
async function fragments(flood: Flood): Promise<void> {
  const first = Buffer.from([0x01, 0x81, 0, 0, 0, 0, 0x20]);
  const next = Buffer.from([0x00, 0x81, 0, 0, 0, 0, 0x20]);
  const message = Buffer.concat([first, ...Array.from({ length: 15_999 }, () => next)]);
  while (!flood.signal.aborted) {
    const clients = Array.from({ length: 40 }, (_, index) => openClient(flood, index));
    for (const client of clients) {
      client.upgrade();
      client.say([init]);
      client.send(message);
    }
    await Promise.all([...clients.map(({ ended }) => ended), sleep(1_000)]);
  }
}

/** 500 connections; each begins, and then sends a piece twice a second; those that are closed come again. */
async function drip(flood: Flood, begin: (client: Client) => void, piece?: string): Promise<void> {
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

/** 100 at the most from an address a minute: the rate. */
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
    client.say([init]);
    client.stopReading();
  }
  await pace(flood, 100, (index) => {
    clients[index % clients.length]?.say([
      { type: 'subscribe', id: String(index), payload: { query: longQuery(flood) } },
    ]);
    flood.count('requests');
  });
}

/** One after the other, as fast as they are answered. */
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

/** Each is another document every time. */
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
