import type { Socket } from 'node:net';

const slots = 10;
const slotMs = 10;

/**
 * Reads what sends in drips: each socket ten times a second, for a moment. What comes in between waits in the network, and
 * is read as one piece; and where many send at once, a turn of the event loop reads a tenth of them.
 */
export class DripReader {
  readonly #slots = Array.from({ length: slots }, () => new Set<Socket>());
  readonly #slotOf = new Map<Socket, Set<Socket>>();
  #added = 0;
  #open = 0;
  #clock: NodeJS.Timeout | undefined;

  add(socket: Socket): void {
    if (this.#slotOf.has(socket)) return;
    this.#added += 1;
    const slot = this.#slots[this.#added % slots] as Set<Socket>;
    slot.add(socket);
    this.#slotOf.set(socket, slot);
    socket.pause();
    this.#clock ??= setInterval(() => this.#turn(), slotMs).unref();
  }

  /** It is read as others are from then on. */
  delete(socket: Socket): void {
    const slot = this.#slotOf.get(socket);
    if (!slot) return;
    slot.delete(socket);
    this.#slotOf.delete(socket);
    if (slot !== this.#slots[this.#open]) socket.resume();
    if (this.#slotOf.size > 0) return;
    clearInterval(this.#clock);
    this.#clock = undefined;
  }

  #turn(): void {
    for (const socket of this.#slots[this.#open] ?? []) socket.pause();
    this.#open = (this.#open + 1) % slots;
    for (const socket of this.#slots[this.#open] ?? []) socket.resume();
  }
}
