import { setImmediate } from 'node:timers/promises';
import type { InboxEvent } from '../../data/event-log/events.ts';
import type { Follower } from '../groups/follower.ts';
import type { LiveStream } from '../live-stream.ts';
import { personal } from '../subscribe-request.ts';
import type { InboxSelection } from './inbox-request.ts';

interface Inbox extends Pick<LiveStream<InboxSelection>, 'request' | 'sink' | 'waitUntilDrained'> {
  /** The follower of a room that the user has not left. */
  findRoom(roomId: string): Follower | undefined;
}

/** The rooms that the user has read, and for which no RoomRead has been sent yet: each of them once. */
export class PendingRoomReads {
  readonly #inbox: Inbox;
  readonly #onError: (error: unknown) => void;
  readonly #due = new Set<string>();
  #isSending = false;

  /** `onError`: reports an error; `start` is called when the database may be available again. */
  constructor(inbox: Inbox, onError: (error: unknown) => void) {
    this.#inbox = inbox;
    this.#onError = onError;
  }

  add(roomId: string): void {
    if (!this.#inbox.findRoom(roomId)) return;
    this.#due.add(roomId);
    this.start();
  }

  /** Sends what is due. */
  readonly start = (): void => {
    if (this.#isSending) return;
    this.#isSending = true;
    this.#send().catch(this.#onError);
  };

  async #send(): Promise<void> {
    try {
      for (const roomId of this.#due) {
        if (this.#inbox.sink?.isFull()) return this.#inbox.waitUntilDrained(this.start);
        this.#due.delete(roomId);
        const follower = this.#inbox.findRoom(roomId);
        if (!follower) continue;
        await this.#sendRoomRead(follower).catch((error) => {
          this.#due.add(roomId);
          throw error;
        });
      }
    } finally {
      // Runs in the same synchronous step as the end of the loop, so that no room is missed.
      this.#isSending = false;
    }
  }

  /** Its cursor must be that of the latest event that was sent, or the client would resume from an earlier one. */
  async #sendRoomRead(follower: Follower): Promise<void> {
    const { request } = this.#inbox;
    const { roomId, room } = follower.feed;
    while (this.#inbox.findRoom(roomId) === follower) {
      const { position } = follower;
      const subject = { subjectId: roomId, version: 0, actorId: request.userId, at: Date.now() };
      // It has the position of the latest event that was sent. The room may have been deleted meanwhile.
      const event: InboxEvent = { ...position, ...subject, type: 'RoomRead', roomId, previousMark: 0, room };
      const encoded = await request.executePersonal(event);
      if (this.#inbox.findRoom(roomId) !== follower || !encoded || encoded === personal) return;
      if (follower.position === position) return this.#inbox.sink?.write(encoded);
      await setImmediate();
    }
  }
}
