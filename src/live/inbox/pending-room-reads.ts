import { setImmediate } from 'node:timers/promises';
import type { InboxEvent } from '../../data/events.ts';
import type { Follower } from '../groups/follower.ts';
import type { Sink } from '../stream.ts';
import { personal } from '../subscribe-request.ts';
import type { InboxSelection } from './inbox-request.ts';

interface Parts {
  request: InboxSelection;
  sink: () => Sink | undefined;
  find: (roomId: string) => Follower | undefined;
  waitUntilDrained: (resume: () => void) => void;
  /** Reports an error; `start` is called when the database may be available again. */
  onError: (error: unknown) => void;
}

/** The rooms that the user has read, and for which no RoomRead has been sent yet: each of them once. */
export class PendingRoomReads {
  readonly #parts: Parts;
  readonly #due = new Set<string>();
  #isSending = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  add(roomId: string): void {
    if (!this.#parts.find(roomId)) return;
    this.#due.add(roomId);
    this.start();
  }

  /** Sends what is due. */
  readonly start = (): void => {
    if (this.#isSending) return;
    this.#isSending = true;
    this.#send().catch(this.#parts.onError);
  };

  async #send(): Promise<void> {
    try {
      for (const roomId of this.#due) {
        if (this.#parts.sink()?.isFull()) return this.#parts.waitUntilDrained(this.start);
        this.#due.delete(roomId);
        const follower = this.#parts.find(roomId);
        if (follower) await this.#sendRoomRead(follower).catch((error) => this.#keep(roomId, error));
      }
    } finally {
      // Runs in the same synchronous step as the end of the loop, so that no room is missed.
      this.#isSending = false;
    }
  }

  #keep(roomId: string, error: unknown): never {
    this.#due.add(roomId);
    throw error;
  }

  /** Its cursor must be that of the latest event that was sent, or the client would resume from an earlier one. */
  async #sendRoomRead(follower: Follower): Promise<void> {
    const { request, sink, find } = this.#parts;
    const { roomId } = follower.feed;
    while (find(roomId) === follower) {
      const { position } = follower;
      const encoded = await request.executePersonal(createRoomRead(follower, request.userId));
      if (find(roomId) !== follower || !encoded || encoded === personal) return;
      if (follower.position === position) return sink()?.write(encoded);
      await setImmediate();
    }
  }
}

/** The event has the position of the latest event that was sent. */
function createRoomRead({ feed: { roomId }, position }: Follower, userId: string): InboxEvent {
  const subject = { subjectId: roomId, version: 0 };
  return { ...position, ...subject, type: 'RoomRead', roomId, previousMark: 0, actorId: userId, at: Date.now() };
}
