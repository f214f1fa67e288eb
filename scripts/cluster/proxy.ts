import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net';

export interface RoundRobinProxy {
  /** The URL of the proxy. */
  url: string;
  /** Cuts all connections, and accepts no more. */
  close(): Promise<void>;
}

/**
 * Starts a TCP proxy that connects clients to the nodes in turn. A node that refuses the connection is passed over; so is
 * a node that has stopped, and a client is cut off only if no node accepts it.
 */
export async function startProxy(nodes: readonly string[], port = 0): Promise<RoundRobinProxy> {
  const targets = nodes.map((url): NetConnectOpts => {
    const { hostname, port } = new URL(url);
    return { host: hostname, port: Number(port), noDelay: true, allowHalfOpen: true };
  });
  const sockets = new Set<Socket>();
  let turn = 0;
  const server = createServer({ pauseOnConnect: true, noDelay: true, allowHalfOpen: true }, (client) => {
    track(client);
    const first = turn++;
    const tryNode = (attempt: number): void => {
      const target = targets[(first + attempt) % targets.length];
      if (!target || attempt === targets.length) return void client.destroy();
      const node = track(connect(target));
      const tryNext = () => tryNode(attempt + 1);
      node.once('error', tryNext);
      node.once('connect', () => {
        node.off('error', tryNext);
        join(client, node);
      });
    };
    tryNode(0);
  });
  const track = (socket: Socket) => {
    sockets.add(socket);
    return socket.on('error', ignore).once('close', () => sockets.delete(socket));
  };
  server.listen({ host: '127.0.0.1', port, backlog: 4_096 });
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Passes on bytes and the end of each direction; a connection that fails takes its other side with it. */
function join(client: Socket, node: Socket): void {
  client.pipe(node).pipe(client);
  client.once('close', () => node.destroy());
  node.once('close', () => client.destroy());
}

function ignore(): void {}
