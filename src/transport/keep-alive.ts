import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';

const pingMs = 15_000;
const closeGraceMs = 5_000;
const tryAgainLater = 1013;

interface Watched {
  webSocket: WebSocket;
  socket: Socket;
  /** When it last answered, or took bytes from us. */
  lastSign: number;
  taken: number;
}

/** Pings every socket; one that has neither answered nor drained for too long is closed, then terminated. */
export class KeepAlive {
  readonly #stallMs: number;
  readonly #watched = new Set<Watched>();
  readonly #timer: NodeJS.Timeout;

  constructor(stallSeconds: number) {
    this.#stallMs = stallSeconds * 1_000;
    this.#timer = setInterval(() => this.#look(), Math.min(pingMs, this.#stallMs / 4)).unref();
  }

  watch(webSocket: WebSocket, socket: Socket): void {
    const watched: Watched = { webSocket, socket, lastSign: Date.now(), taken: 0 };
    const sign = () => {
      watched.lastSign = Date.now();
    };
    webSocket.on('pong', sign);
    webSocket.on('message', sign);
    webSocket.once('close', () => this.#watched.delete(watched));
    this.#watched.add(watched);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = Date.now();
    for (const watched of this.#watched) {
      const { webSocket, socket } = watched;
      const taken = socket.bytesWritten - socket.writableLength;
      if (taken > watched.taken && socket.writableLength > 0) watched.lastSign = now;
      watched.taken = taken;
      if (now - watched.lastSign > this.#stallMs) this.#end(watched);
      else if (webSocket.readyState === webSocket.OPEN) webSocket.ping();
    }
  }

  #end(watched: Watched): void {
    this.#watched.delete(watched);
    watched.webSocket.close(tryAgainLater, 'Stalled');
    terminateLater(watched.webSocket);
  }
}

/** A close frame behind a full buffer may never leave. */
export function terminateLater(webSocket: WebSocket): void {
  setTimeout(() => webSocket.terminate(), closeGraceMs).unref();
}
