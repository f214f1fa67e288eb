import { containEach } from '../../common/contain.ts';
import { tryAgainLater, type WebSocketConnection } from './connection.ts';

const maxPingMs = 15_000;

/**
 * Pings every socket that is watched. A socket that neither answers nor drains is closed within `stallSeconds`, but not
 * before three quarters of that time, and is then terminated. Time is counted in checks, so that time in which this
 * process itself was blocked does not count against a client.
 */
export function createKeepAlive(stallSeconds: number) {
  const stallMs = stallSeconds * 1_000;
  const maxSilentChecks = Math.max(4, Math.ceil(stallMs / maxPingMs));
  const checks = new Map<WebSocketConnection, () => void>();
  const checkAll = () => containEach(checks.keys(), (connection) => checks.get(connection)?.());
  const timer = setInterval(checkAll, stallMs / maxSilentChecks).unref();
  const watch = (connection: WebSocketConnection) => {
    const { webSocket, socket } = connection;
    /** The number of checks since the client last sent a pong or read some bytes. */
    let silentChecks = 0;
    /** At the last check: the bytes that the system had accepted, and the bytes that it had not. */
    let last = { accepted: 0, pending: 0 };
    const check = () => {
      const pending = connection.bytesWaiting;
      const accepted = socket.bytesWritten - pending;
      // If nothing was pending, our own ping may only have reached the kernel's buffer.
      const hasDrained = accepted > last.accepted && pending + last.pending > 0;
      last = { accepted, pending };
      silentChecks = hasDrained ? 0 : silentChecks + 1;
      if (silentChecks >= maxSilentChecks) connection.end(tryAgainLater, 'Stalled');
      else if (connection.isOpen) connection.writer.ping();
    };
    webSocket.on('pong', () => {
      silentChecks = 0;
    });
    webSocket.on('message', () => {
      // A client may keep sending requests without reading any answer, so a message alone proves nothing.
      if (socket.writableLength === 0) silentChecks = 0;
    });
    webSocket.once('close', () => checks.delete(connection));
    checks.set(connection, check);
  };
  return { watch, stop: () => clearInterval(timer) };
}
