import { containEach } from '../../contain.ts';
import type { Connection } from './connection.ts';

/** A refused operation takes 0.1 to 0.2 ms. */
const framesPerTurn = 16;

/**
 * Limits the frames of all sockets that one turn of the event loop handles. A socket with more frames waits for another
 * turn, in order.
 */
export class FrameTurns {
  readonly #waiting: Connection[] = [];
  #left = framesPerTurn;
  #isScheduled = false;

  /** Called for each frame. A long one counts as several. */
  count(connection: Connection, frames: number): void {
    this.#schedule();
    this.#left -= frames;
    if (this.#left <= 0 && connection.deferFrames()) this.#waiting.push(connection);
  }

  #schedule(): void {
    if (!this.#isScheduled) setImmediate(() => this.#begin());
    this.#isScheduled = true;
  }

  #begin(): void {
    this.#isScheduled = false;
    this.#left = framesPerTurn;
    containEach(this.#waiting.splice(0, framesPerTurn), (connection) => connection.resumeReading());
    if (this.#waiting.length > 0) this.#schedule();
  }
}
