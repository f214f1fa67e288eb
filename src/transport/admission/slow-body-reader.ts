import type { Socket } from 'node:net';

const turnMs = 10;
/** A tenth of them at a time, so that each is read ten times a second. */
const parts = 10;
/** But no more than these, however many there are: a turn costs the same whether anything has come or not. */
const maxOpen = 50;

/**
 * Reads what sends in drips by turns: what comes in between waits in the network, and however many send at once, a turn reads
 * but some of them.
 */
export class SlowBodyReader {
  /** In the order of their turns. */
  readonly #sockets = new Set<Socket>();
  #open: Socket[] = [];
  #clock: NodeJS.Timeout | undefined;

  add(socket: Socket): void {
    if (this.#sockets.has(socket)) return;
    this.#sockets.add(socket);
    socket.pause();
    this.#clock ??= setInterval(() => this.#turn(), turnMs).unref();
  }

  /** It is read as others are from then on. */
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
