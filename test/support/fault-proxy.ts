import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A network between a client and a server that fails on demand. */
export interface FaultProxy {
  /** The target's address, by way of the proxy. */
  url: string;
  /** How many connections go through it. */
  readonly connectionCount: number;
  /** Resets every connection; new ones are let through. */
  cut(): void;
  /** No byte passes either way any more; the connections stay. */
  freeze(): void;
  thaw(): void;
  /** So many bytes a second go to each client, in tenths of a second; Infinity lifts it. */
  throttle(bytesPerSecond: number): void;
  close(): Promise<void>;
}

const tickMs = 100;

/** A way: what comes in on one end goes out at the other, as long as the other takes it. */
interface Way {
  from: Socket;
  to: Socket;
  /** Bytes that may still pass in this tick. */
  allowance: number;
}

export async function createFaultProxy(targetUrl: string): Promise<FaultProxy> {
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
    // What was said before the end still arrives; a reset takes the pair down as one.
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
    // What a chunk took beyond its tick is paid back in the next ones.
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
  server.listen({ host: '127.0.0.1', port: 0, backlog: 4_096 });
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
