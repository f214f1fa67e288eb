import { once } from 'node:events';
import type { Attack } from '../attack.ts';
import { formatCounts } from '../counts.ts';
import type { Sandbox } from '../sandbox.ts';
import type { Server } from '../server.ts';
import { sleep } from '../waiting.ts';
import { WebSocketClient } from '../web-socket-client.ts';

const floodMs = 8_000;
/** About the size of what the server reads at once. */
const packetBytes = 65_000;

/** Sends empty frames without an end, without `connection_init`, and opens the next socket when the server ends one. */
async function flood(sandbox: Sandbox, server: Server, frames: Buffer): Promise<string[]> {
  const packet = Buffer.concat(Array.from({ length: Math.floor(packetBytes / frames.length) }, () => frames));
  const closed: string[] = [];
  const end = performance.now() + floodMs;
  while (performance.now() < end) {
    const client = new WebSocketClient(server, {});
    sandbox.onEnd(() => client.disconnect());
    const { webSocket } = client;
    const hasClosed = once(webSocket, 'close');
    await Promise.race([once(webSocket, 'open'), hasClosed]);
    const isOpen = () => client.closeCode === undefined && performance.now() < end;
    while (isOpen()) {
      const isAccepted = client.rawSocket.write(packet);
      await Promise.race([isAccepted ? sleep(1) : once(client.rawSocket, 'drain').catch(() => {}), hasClosed]);
    }
    closed.push(client.closeCode === undefined ? 'still open' : `closed with ${client.closeCode}`);
    client.disconnect();
  }
  return closed;
}

/** `first`: the first byte of each frame of a sequence that is repeated; the frames are masked and empty. */
function floodOf(what: string, sockets: number, name: string, first: readonly number[]): Attack {
  return {
    name,
    promise: `${sockets} sockets that send ${what} without an end do not block other requests, and are ended.`,
    async run(sandbox, findings) {
      const server = await sandbox.start();
      const frames = Buffer.from(first.flatMap((byte) => [byte, 0x80, 0, 0, 0, 0]));
      await sandbox.measure(server, async () => {
        const flooding = Array.from({ length: sockets }, () => flood(sandbox, server, frames));
        const closed = (await Promise.all(flooding)).flat();
        findings.note(formatCounts(closed));
        findings.expect(
          closed.some((how) => how !== 'still open'),
          'no socket was ended',
        );
      });
    },
  };
}

// RFC 6455, 5.2: the flag FIN and the opcode.
const [text, ping, pong] = [0x81, 0x89, 0x8a];
const [firstFragment, fragment, lastFragment] = [0x01, 0x00, 0x80];

export const frameAttacks: readonly Attack[] = [
  floodOf('pongs', 1, 'pongs-of-1', [pong]),
  floodOf('pongs', 50, 'pongs-of-50', [pong]),
  floodOf('pings', 50, 'pings-of-50', [ping]),
  floodOf('empty messages', 10, 'messages-of-10', [text]),
  floodOf('messages in 64 fragments', 50, 'fragments-of-50', [
    firstFragment,
    ...Array(62).fill(fragment),
    lastFragment,
  ]),
];
