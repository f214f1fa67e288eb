import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy between a client and a server that fails on demand. */
export interface FaultProxy {
  /** The target's URL through the proxy. */
  url: string;
  /** The number of open connections through the proxy. */
  readonly connectionCount: number;
  /** Resets every connection; new connections are accepted. */
  cut(): void;
  /** Stops all traffic in both directions; the connections stay open. */
  freeze(): void;
  thaw(): void;
  /** Limits the traffic to each client, applied every 100 ms; Infinity removes the limit. */
  throttle(bytesPerSecond: number): void;
  close(): Promise<void>;
}

const tickMs = 100;

/** One direction of a connection, with backpressure. */
interface Way {
  from: Socket;
  to: Socket;
  /** Bytes that may still pass in this tick. */
  allowance: number;
}

/** Listens on a free port, unless a port is given. */
export async function createFaultProxy(targetUrl: string, port = 0): Promise<FaultProxy> {
  const url = new URL(targetUrl);
  const target = { host: url.hostname, port: Number(url.port), noDelay: true };
  const pairs = new Set<{ up: Way; down: Way }>();
  let isFrozen = false;
  let bytesPerTick = Number.POSITIVE_INFINITY;

  const flow = ({ from, to, allowance }: Way) => {
    if (isFrozen || to.writableNeedDrain || allowance <= 0) from.pause();
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
      way.to.write(chunk);
      flow(way);
    });
    way.to.on('drain', () => flow(way));
    // Data sent before the end still arrives; an error closes both sides at once.
    way.from.once('close', () => way.to.end());
    way.from.on('error', () => way.to.destroy());
  };
  const server = createServer({ pauseOnConnect: true, noDelay: true }, (client) => {
    const upstream = connect(target);
    const pair = {
      up: { from: client, to: upstream, allowance: Number.POSITIVE_INFINITY },
      down: { from: upstream, to: client, allowance: bytesPerTick },
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
    freeze() {
      isFrozen = true;
      flowAll();
    },
    thaw() {
      isFrozen = false;
      flowAll();
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
