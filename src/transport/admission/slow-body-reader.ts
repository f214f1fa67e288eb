import type { Socket } from 'node:net';

const turnMs = 10;
/** Each turn reads one tenth of the sockets, so that each socket is read ten times a second. */
const parts = 10;
/** The maximum number of sockets per turn: a turn costs the same whether data has arrived or not. */
const maxOpen = 50;

/**
 * Reads sockets with slow request bodies (slowloris) in turns. Between its turns a socket is paused, and its data waits
 * in the network. A turn reads only some of the sockets, whatever their number.
 */
export class SlowBodyReader {
  /** In the order in which they are read. */
  readonly #sockets = new Set<Socket>();
  #open: Socket[] = [];
  #clock: NodeJS.Timeout | undefined;

  add(socket: Socket): void {
    if (this.#sockets.has(socket)) return;
    this.#sockets.add(socket);
    socket.pause();
    this.#clock ??= setInterval(() => this.#turn(), turnMs).unref();
  }

  /** The socket is then read normally again. */
  delete(socket: Socket): void {
    if (!this.#sockets.delete(socket)) return;
    if (!this.#open.includes(socket)) socket.resume();
    if (this.#sockets.size > 0) return;
    clearInterval(this.#clock);
    this.#clock = undefined;
    this.#open = [];
  }

  #turn(): void {
    for (const socket of this.#open) if (this.#sockets.has(socket)) socket.pause();
    const count = Math.min(maxOpen, Math.ceil(this.#sockets.size / parts));
    this.#open = this.#sockets.values().take(count).toArray();
    for (const socket of this.#open) {
      this.#sockets.delete(socket);
      this.#sockets.add(socket);
      socket.resume();
    }
  }
}
