import { containEach } from '../../common/contain.ts';
import { TurnBudget } from '../../common/event-loop.ts';
import type { WebSocketConnection } from './connection.ts';

/** A refused operation takes 0.1 to 0.2 ms. */
const framesPerTurn = 16;

/**
 * Limits the frames of all sockets that one turn of the event loop handles. A socket with more frames waits for another
 * turn, in order.
 */
export class FrameTurns {
  readonly #waiting: WebSocketConnection[] = [];
  readonly #budget = new TurnBudget(framesPerTurn);

  /** Called for each frame. A long one counts as several. */
  count(connection: WebSocketConnection, frames: number): void {
    if (this.#budget.spend(frames) > 0 || !connection.deferFrames()) return;
    if (this.#waiting.push(connection) === 1) this.#schedule();
  }

  #schedule(): void {
    setImmediate(() => {
      containEach(this.#waiting.splice(0, framesPerTurn), (connection) => connection.resumeReading());
      if (this.#waiting.length > 0) this.#schedule();
    });
  }
}
