import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** From the client to the server, or from the server to the client. */
export type Direction = 'up' | 'down';

/** A proxy between a client and a server that fails on demand. */
export interface FaultProxy {
  /** The target's URL through the proxy. */
  url: string;
  /** The number of open connections through the proxy. */
  readonly connectionCount: number;
  /** Resets every connection; new connections are accepted. */
  cut(): void;
  /** Stops all traffic in these directions, by default in both; the connections stay open. */
  freeze(...directions: Direction[]): void;
  thaw(): void;
  /** Delivers everything in both directions this much later. */
  delay(ms: number): void;
  /** Resets every connection; new connections go to another server. */
  retarget(url: string): void;
  /** Limits the traffic to each client, applied every 100 ms; Infinity removes the limit. */
  throttle(bytesPerSecond: number): void;
  close(): Promise<void>;
}

const tickMs = 100;

/** One direction of a connection, with backpressure. */
interface Way {
  direction: Direction;
  from: Socket;
  to: Socket;
  /** Bytes that may still pass in this tick. */
  allowance: number;
  /** Chunks, and the end, that are delivered later, in order. */
  late: Late[];
}

interface Late {
  dueAt: number;
  deliver: () => void;
}

/** Listens on a free port, unless a port is given. */
export async function createFaultProxy(targetUrl: string, port = 0): Promise<FaultProxy> {
  const url = new URL(targetUrl);
  let target = addressOf(targetUrl);
  const pairs = new Set<{ up: Way; down: Way }>();
  let frozen: readonly Direction[] = [];
  let delayMs = 0;
  let bytesPerTick = Number.POSITIVE_INFINITY;

  const flow = ({ direction, from, to, allowance }: Way) => {
    if (frozen.includes(direction) || to.writableNeedDrain || allowance <= 0) from.pause();
    else from.resume();
  };
  const flowAll = () => {
    for (const { up, down } of pairs) {
      flow(up);
      flow(down);
    }
  };
  const join = (way: Way) => {
    way.from.on('data', (chunk: Buffer) => {
      way.allowance -= chunk.length;
      deliverLater(way, delayMs, () => way.to.write(chunk));
      flow(way);
    });
    way.to.on('drain', () => flow(way));
    // Data sent before the end still arrives; an error closes both sides at once.
    way.from.once('close', () => deliverLater(way, 0, () => way.to.end()));
    way.from.on('error', () => way.to.destroy());
  };
  const server = createServer({ pauseOnConnect: true, noDelay: true }, (client) => {
    const upstream = connect(target);
    const pair: { up: Way; down: Way } = {
      up: { direction: 'up', from: client, to: upstream, allowance: Number.POSITIVE_INFINITY, late: [] },
      down: { direction: 'down', from: upstream, to: client, allowance: bytesPerTick, late: [] },
    };
    pairs.add(pair);
    client.once('close', () => pairs.delete(pair));
    join(pair.up);
    join(pair.down);
    flow(pair.up);
    flow(pair.down);
  });
  const timer = setInterval(() => {
    if (bytesPerTick === Number.POSITIVE_INFINITY) return;
    // A chunk that exceeds the allowance of its tick reduces the allowance of the next ticks.
    for (const { down } of pairs) down.allowance = Math.min(bytesPerTick, down.allowance + bytesPerTick);
    flowAll();
  }, tickMs);
  const cut = () => {
    for (const { up } of pairs) {
      up.from.resetAndDestroy();
      up.to.resetAndDestroy();
    }
    pairs.clear();
  };
  server.listen({ host: '127.0.0.1', port, backlog: 4_096 });
  await once(server, 'listening');
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    get connectionCount() {
      return pairs.size;
    },
    cut,
    freeze(...directions) {
      frozen = directions.length > 0 ? directions : ['up', 'down'];
      flowAll();
    },
    thaw() {
      frozen = [];
      flowAll();
    },
    delay(ms) {
      delayMs = ms;
    },
    retarget(url) {
      target = addressOf(url);
      cut();
    },
    throttle(bytesPerSecond) {
      bytesPerTick = (bytesPerSecond * tickMs) / 1_000;
      for (const { down } of pairs) down.allowance = bytesPerTick;
      flowAll();
    },
    async close() {
      clearInterval(timer);
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}

function addressOf(url: string) {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port), noDelay: true };
}

/** Delivers after the delay, and after everything that waits already. */
function deliverLater({ late }: Way, delayMs: number, deliver: () => void): void {
  if (delayMs === 0 && late.length === 0) return deliver();
  const dueAt = Math.max(performance.now() + delayMs, late.at(-1)?.dueAt ?? 0);
  late.push({ dueAt, deliver });
  if (late.length === 1) setTimeout(() => deliverDue(late), delayMs);
}

function deliverDue(late: Late[]): void {
  for (let next = late[0]; next; next = late[0]) {
    const remainingMs = next.dueAt - performance.now();
    if (remainingMs > 0) return void setTimeout(() => deliverDue(late), remainingMs);
    late.shift();
    next.deliver();
  }
}
