import { connect } from 'node:net';
import type { Attack } from '../attack.ts';
import { formatCounts } from '../counts.ts';
import type { Sandbox } from '../sandbox.ts';
import type { Server } from '../server.ts';
import { sleep } from '../waiting.ts';

/* One anonymous address sends many small units of work at once: keys, values, chunks and requests. */

const attackMs = 5_000;
/** Between an answer and the next request of a connection: the clients must not need all processors themselves. */
const pauseMs = 50;
const address = '127.0.0.9';

interface Flood {
  connections: number;
  /** Sent on each connection, and again after as many answers as it has requests. */
  bytes: string;
  requests: number;
  /** Sent after `bytes`, as fast as the server reads it. */
  endless?: string;
}

/** Floods the server for `attackMs`, with new connections for those that it closes. Returns the statuses of its answers. */
async function flood(sandbox: Sandbox, server: Server, { connections, bytes, requests, endless }: Flood) {
  const statuses: string[] = [];
  let isOver = false;
  const open = () => {
    if (isOver) return;
    const connection = connect({ host: '127.0.0.1', port: server.port, localAddress: address });
    let waiting = 0;
    const send = () => {
      waiting = requests;
      connection.write(bytes);
      sendMore();
    };
    const sendMore = () => {
      if (endless === undefined || isOver) return;
      while (connection.writable && connection.write(endless));
    };
    connection.on('connect', send).on('drain', sendMore);
    connection.on('error', () => {}).on('close', () => void sleep(20).then(open));
    connection.on('data', (data) => {
      const found = [...data.toString('latin1').matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status = '']) => status);
      statuses.push(...found);
      waiting -= found.length;
      if (waiting <= 0 && found.length > 0) void sleep(pauseMs).then(() => isOver || send());
    });
    sandbox.onEnd(() => connection.destroy());
  };
  for (let index = 0; index < connections; index += 1) open();
  await sleep(attackMs);
  isOver = true;
  return statuses;
}

function floodAttack(name: string, what: string, given: Flood): Attack {
  return {
    name,
    promise: `${what} from one address do not block the event loop for more than 250 ms.`,
    async run(sandbox, findings) {
      const server = await sandbox.start();
      const statuses = await sandbox.measure(server, () => flood(sandbox, server, given));
      findings.note(formatCounts(statuses) || 'no answers');
    },
  };
}

function postOf(body: string): string {
  return `POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

const unknownKeys = JSON.stringify({
  query: 'query ($f: PostFilter) { posts(filter: $f) { data { id } } }',
  variables: { f: Object.fromEntries(Array.from({ length: 80_000 }, (_, key) => [`k${key}`, 1])) },
});
const pipelined = 'GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n';
const page = 'GET /graphql HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\nAccept-Encoding: gzip\r\n\r\n';
const chunkedHead =
  'POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
const chunks = '1\r\n \r\n'.repeat(5_000);

/** 23 connections send 1.2 MB/s of bodies that they do not complete. */
const withheldBodies: Attack = {
  name: 'withheld-bodies',
  promise: 'Unfinished bodies of one address leave memory for those of another.',
  async run(sandbox, findings) {
    const server = await sandbox.start();
    const client = sandbox.openClient(server, '127.0.0.8');
    const padding = ' '.repeat(40_000);
    const statuses: string[] = [];
    await sandbox.measure(server, async () => {
      let isOver = false;
      const open = () => {
        if (isOver) return;
        const connection = connect({ host: '127.0.0.1', port: server.port, localAddress: address });
        sandbox.onEnd(() => connection.destroy());
        connection.on('error', () => {}).resume();
        connection.write(postOf(' '.repeat(990_000)).slice(0, -990_000));
        const sending = setInterval(() => connection.write(' '.repeat(50_000)), 950);
        connection.on('close', () => {
          clearInterval(sending);
          void sleep(20).then(open);
        });
      };
      for (let index = 0; index < 23; index += 1) open();
      const end = performance.now() + 12_000;
      while (performance.now() < end) {
        statuses.push(String((await client.send('{ __typename }', { padding })).status));
        await sleep(200);
      }
      isOver = true;
    });
    findings.note(formatCounts(statuses));
    findings.expect(
      statuses.every((status) => status === '200'),
      'bodies of another address are refused',
    );
  },
};

export const burstAttacks: readonly Attack[] = [
  floodAttack('unknown-keys', 'Variables with 80,000 unknown keys', {
    connections: 4,
    bytes: postOf(unknownKeys),
    requests: 1,
  }),
  floodAttack('open-brackets', 'Bodies of a million brackets', {
    connections: 16,
    bytes: postOf('['.repeat(1_000_000)),
    requests: 1,
  }),
  floodAttack('empty-objects', 'Bodies of 300,000 empty objects', {
    connections: 16,
    bytes: postOf(`[${'{},'.repeat(300_000)}{}]`),
    requests: 1,
  }),
  floodAttack('short-chunks', 'Bodies in chunks of a byte over 8 connections', {
    connections: 8,
    bytes: chunkedHead,
    requests: 1,
    endless: chunks,
  }),
  floodAttack('short-chunks-everywhere', 'Bodies in chunks of a byte over 900 connections', {
    connections: 900,
    bytes: chunkedHead,
    requests: 1,
    endless: chunks,
  }),
  floodAttack('pipelined-refusals', 'Nine requests at once on each of 990 connections', {
    connections: 990,
    bytes: pipelined.repeat(9),
    requests: 9,
  }),
  floodAttack('first-page', 'Requests for GraphiQL on 900 connections, before the page exists,', {
    connections: 900,
    bytes: page,
    requests: 1,
  }),
  withheldBodies,
];
