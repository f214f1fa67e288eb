import type { Socket } from 'node:net';
import { type Connection, tryAgainLater } from './connection.ts';

const pingMs = 15_000;

interface Watched {
  connection: Connection;
  socket: Socket;
  /** How often it was looked at since it last answered, or took bytes from us. */
  silentLooks: number;
  /** Bytes the network took from us, and bytes that waited for it, when it was last looked at. */
  taken: number;
  waiting: number;
}

/** Pings every socket; one that has neither answered nor drained for too long is closed, then terminated. */
export class KeepAlive {
  /** Time is counted in looks: of the time when this process itself stood still, nobody is accused. */
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
      // One may go on asking without ever reading an answer.
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
      // Where nothing waited, our own ping went no further than the kernel.
      const hasDrained = taken > watched.taken && waiting + watched.waiting > 0;
      Object.assign(watched, { taken, waiting, silentLooks: hasDrained ? 0 : watched.silentLooks + 1 });
      if (watched.silentLooks > this.#maxSilentLooks) connection.end(tryAgainLater, 'Stalled');
      else if (connection.isOpen) connection.webSocket.ping();
    }
  }
}
