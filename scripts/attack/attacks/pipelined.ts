import { connect, type Socket } from 'node:net';
import type { Attack } from '../attack.ts';
import { sleep } from '../waiting.ts';

const connectionCount = 900;
/** About the size of what the server reads at once. */
const packetBytes = 65_000;

/** Sends many requests in one packet on each connection, and does not read the answers. */
function pipelinedRequests(name: string, what: string, request: string, countEach: number): Attack {
  return {
    name,
    promise: `Pipelined requests for ${what} from one address retain at most 64 MB and do not block other requests.`,
    async run(sandbox, findings) {
      const server = await sandbox.start();
      await sandbox.measure(server, async () => {
        const connections: Socket[] = [];
        for (let index = 0; index < connectionCount; index += 1) {
          const connection = connect(server.port, '127.0.0.1');
          connection.on('error', () => {}).pause();
          connection.write(request.repeat(countEach));
          connections.push(connection);
          await sleep(5);
        }
        sandbox.onEnd(() => {
          for (const connection of connections) connection.destroy();
        });
        await sleep(2_000);
        findings.note(`${countEach} requests on each of ${connectionCount} connections`);
      });
    },
  };
}

const metrics = 'GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n';
const page = 'GET /graphql HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n\r\n';

export const pipelinedAttacks: readonly Attack[] = [
  pipelinedRequests('pipelined-pages', 'uncompressed pages of GraphiQL', page, 10),
  pipelinedRequests('pipelined-metrics', '/metrics', metrics, Math.floor(packetBytes / metrics.length)),
];
