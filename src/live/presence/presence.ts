import type { StreamTransport } from '../live-counts.ts';
import type { StateRequest } from '../states/state-stream.ts';
import type { Stream } from '../stream.ts';
import type { PresentViewer } from './own-presence.ts';
import { PresenceRoom, type PresenceRoomParts } from './presence-room.ts';
import type { Named, PresenceState } from './presence-state.ts';

/** Who is present and who types, by room. It is a state: nothing of it is stored or written to the log. */
export class Presence {
  readonly #parts: PresenceRoomParts;
  readonly #rooms = new Map<string, PresenceRoom>();

  constructor(parts: PresenceRoomParts) {
    this.#parts = parts;
  }

  /** `viewer` is present while the stream is open; null for a viewer who is not shown. @throws ClientError. */
  subscribe(roomId: string, viewer: PresentViewer | null, request: StateRequest<PresenceState>): Promise<Stream> {
    return this.#use(roomId, (room) => room.subscribe(request, viewer));
  }

  async read(roomId: string): Promise<PresenceState> {
    return this.#rooms.get(roomId)?.read() ?? { roomId, count: 0, users: [], typing: [] };
  }

  startTyping(roomId: string, user: Named, { seesAll }: { seesAll: boolean }): Promise<void> {
    return this.#use(roomId, (room) => room.own.startTyping(user, seesAll));
  }

  stopTyping(roomId: string, userId: string): void {
    this.#rooms.get(roomId)?.own.stopTyping(userId);
  }

  /** The account was deleted, or its credentials were revoked: a lost connection does not come back. */
  forget(userId: string): void {
    for (const room of [...this.#rooms.values()]) room.own.forget(userId);
  }

  /** The number of open streams. */
  get size(): number {
    return this.#rooms.values().reduce((count, { streams }) => count + streams.size, 0);
  }

  /** The number of open streams over a transport. */
  countOpen(transport: StreamTransport): number {
    return this.#rooms.values().reduce((count, { streams }) => count + streams.countOpen(transport), 0);
  }

  /** Cuts every connection; clients connect to another server. */
  close(): void {
    for (const room of [...this.#rooms.values()]) room.close();
  }

  #use<T>(roomId: string, work: (room: PresenceRoom) => T | Promise<T>): Promise<T> {
    const room = this.#rooms.get(roomId) ?? new PresenceRoom(roomId, this.#parts, () => this.#rooms.delete(roomId));
    this.#rooms.set(roomId, room);
    return room.use(() => work(room));
  }
}
