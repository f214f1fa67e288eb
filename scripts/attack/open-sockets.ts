import type { Sandbox } from './sandbox.ts';
import type { Server } from './server.ts';
import type { SocketOptions, WebSocketClient } from './web-socket-client.ts';

const openedAtOnce = 50;

/** Opens `count` sockets, at most `openedAtOnce` at a time. */
export async function openSockets(
  sandbox: Sandbox,
  server: Server,
  count: number,
  options: (index: number) => SocketOptions = () => ({}),
): Promise<WebSocketClient[]> {
  const sockets: WebSocketClient[] = [];
  for (let first = 0; first < count; first += openedAtOnce) {
    const length = Math.min(openedAtOnce, count - first);
    const opening = Array.from({ length }, (_, index) =>
      sandbox.socket(server, { keepsMessages: false, ...options(first + index) }),
    );
    sockets.push(...(await Promise.all(opening)));
  }
  return sockets;
}

/** `connectionParams` with which `count` subscriptions, `s0`, `s1` and so on, resume without a charge to the rate. */
export function resumeParams(count: number, cursor: string): Record<string, unknown> {
  return { live: { seen: Object.fromEntries(Array.from({ length: count }, (_, index) => [`s${index}`, cursor])) } };
}
