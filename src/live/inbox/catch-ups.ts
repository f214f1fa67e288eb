import { yieldWhenDue } from '../../common/event-loop.ts';
import type { Follower } from '../groups/follower.ts';
import type { LiveStream } from '../live-stream.ts';

/** The maximum number of rooms of one inbox that read from the log at the same time. */
const maxRunning = 4;

/** The rooms of one inbox that are not live: some of them read at a time, while the client reads. */
export class CatchUps {
  readonly #inbox: Pick<LiveStream, 'sink' | 'waitUntilDrained' | 'fail'>;
  /** In order. */
  readonly #waiting = new Set<Follower>();
  #running = 0;

  constructor(inbox: Pick<LiveStream, 'sink' | 'waitUntilDrained' | 'fail'>) {
    this.#inbox = inbox;
  }

  add(follower: Follower): void {
    this.#waiting.add(follower);
    this.#start();
  }

  delete(follower: Follower): void {
    this.#waiting.delete(follower);
  }

  readonly #start = (): void => {
    for (const follower of this.#waiting) {
      if (this.#running >= maxRunning) return;
      if (this.#inbox.sink?.isFull()) return this.#inbox.waitUntilDrained(this.#start);
      this.#waiting.delete(follower);
      this.#running += 1;
      this.#read(follower).catch((error) => this.#inbox.fail(error));
    }
  };

  async #read(follower: Follower): Promise<void> {
    try {
      await yieldWhenDue();
      if (!(await follower.readOn())) this.#waiting.add(follower);
    } finally {
      this.#running -= 1;
    }
    this.#start();
  }
}
