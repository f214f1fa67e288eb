import { containEach } from '../../common/contain.ts';
import { tryAgainLater, type WebSocketConnection } from './connection.ts';

const maxPingMs = 15_000;

interface Watched {
  /** The number of checks since the client last sent a pong or read some bytes. */
  silentChecks: number;
  /** At the last check: the bytes that the system had accepted, and the bytes that it had not. */
  accepted: number;
  pending: number;
}

/**
 * Pings every socket. A socket that neither answers nor drains is closed within `stallSeconds`, but not before three
 * quarters of that time, and is then terminated. Time is counted in checks, so that time in which this process itself was
 * blocked does not count against a client.
 */
export class KeepAlive {
  readonly #maxSilentChecks: number;
  readonly #watched = new Map<WebSocketConnection, Watched>();
  readonly #timer: NodeJS.Timeout;

  constructor(stallSeconds: number) {
    const stallMs = stallSeconds * 1_000;
    this.#maxSilentChecks = Math.max(4, Math.ceil(stallMs / maxPingMs));
    this.#timer = setInterval(
      () => containEach(this.#watched.keys(), (connection) => this.#check(connection)),
      stallMs / this.#maxSilentChecks,
    ).unref();
  }

  watch(connection: WebSocketConnection): void {
    const { webSocket, socket } = connection;
    const watched: Watched = { silentChecks: 0, accepted: 0, pending: 0 };
    webSocket.on('pong', () => {
      watched.silentChecks = 0;
    });
    webSocket.on('message', () => {
      // A client may keep sending requests without reading any answer, so a message alone proves nothing.
      if (socket.writableLength === 0) watched.silentChecks = 0;
    });
    webSocket.once('close', () => this.#watched.delete(connection));
    this.#watched.set(connection, watched);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #check(connection: WebSocketConnection): void {
    const watched = this.#watched.get(connection);
    if (!watched) return;
    const pending = connection.bytesWaiting;
    const accepted = connection.socket.bytesWritten - pending;
    // If nothing was pending, our own ping may only have reached the kernel's buffer.
    const hasDrained = accepted > watched.accepted && pending + watched.pending > 0;
    Object.assign(watched, { accepted, pending, silentChecks: hasDrained ? 0 : watched.silentChecks + 1 });
    if (watched.silentChecks >= this.#maxSilentChecks) connection.end(tryAgainLater, 'Stalled');
    else if (connection.isOpen) connection.writer.ping();
  }
}
