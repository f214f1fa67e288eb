import type { Socket } from 'node:net';
import { type Connection, tryAgainLater } from './connection.ts';

const pingMs = 15_000;

interface Watched {
  connection: Connection;
  socket: Socket;
  /** The number of checks since the client last sent a pong or read some bytes. */
  silentLooks: number;
  /** At the last check: the bytes that the network had accepted, and the bytes that waited to be sent. */
  taken: number;
  waiting: number;
}

/** Pings every socket. A socket that has neither answered nor drained for `stallSeconds` is closed, then terminated. */
export class KeepAlive {
  /**
   * Time is counted in checks, so that time in which this process itself was blocked does not count against a client.
   */
  readonly #maxSilentLooks: number;
  readonly #watched = new Set<Watched>();
  readonly #timer: NodeJS.Timeout;

  constructor(stallSeconds: number) {
    const stallMs = stallSeconds * 1_000;
    const lookMs = Math.min(pingMs, stallMs / 4);
    this.#maxSilentLooks = Math.ceil(stallMs / lookMs);
    this.#timer = setInterval(() => this.#look(), lookMs).unref();
  }

  watch(connection: Connection, socket: Socket): void {
    const { webSocket } = connection;
    const watched: Watched = { connection, socket, silentLooks: 0, taken: 0, waiting: 0 };
    webSocket.on('pong', () => {
      watched.silentLooks = 0;
    });
    webSocket.on('message', () => {
      // A client may keep sending requests without reading any answer, so a message alone proves nothing.
      if (socket.writableLength === 0) watched.silentLooks = 0;
    });
    webSocket.once('close', () => this.#watched.delete(watched));
    this.#watched.add(watched);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    for (const watched of this.#watched) {
      const { connection, socket } = watched;
      const waiting = socket.writableLength;
      const taken = socket.bytesWritten - waiting;
      // If nothing was waiting, our own ping may only have reached the kernel's buffer.
      const hasDrained = taken > watched.taken && waiting + watched.waiting > 0;
      Object.assign(watched, { taken, waiting, silentLooks: hasDrained ? 0 : watched.silentLooks + 1 });
      if (watched.silentLooks > this.#maxSilentLooks) connection.end(tryAgainLater, 'Stalled');
      else if (connection.isOpen) connection.webSocket.ping();
    }
  }
}
