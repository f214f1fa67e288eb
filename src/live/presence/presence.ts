import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import DataLoader from 'dataloader';
import { LimitedQueue } from '../../common/limited-queue.ts';
import { hasOtherNodes } from '../bus/bus.ts';
import type { Stream } from '../stream.ts';
import { PresenceRoom, type PresenceRoomParts } from './presence-room.ts';
import { joinPresence, type PresenceState } from './presence-state.ts';

/** The rooms of one question to the other nodes. */
const maxAsked = 100;
/** The maximum time in which the other nodes are informed that this node stops. */
const closeTimeoutMs = 500;

export interface PresenceParts extends Omit<PresenceRoomParts, 'node' | 'ask'> {
  /** Asks the other nodes to call `report`. Resolves when they have, or do not answer in time. */
  askOthers: (roomIds: readonly string[]) => Promise<unknown>;
}

/** Who is present and who types, by room. It is a state: nothing of it is stored or written to the log. */
export class Presence {
  readonly #parts: PresenceParts;
  readonly #roomParts: PresenceRoomParts;
  readonly #rooms = new Map<string, PresenceRoom>();
  /** Rooms that are opened in one turn share a question to the other nodes. */
  readonly #questions = new DataLoader<string, unknown>(
    async (roomIds) => {
      await this.#parts.askOthers(roomIds);
      return roomIds;
    },
    { cache: false, maxBatchSize: maxAsked, batchScheduleFn: setImmediate },
  );

  constructor(parts: PresenceParts) {
    this.#parts = parts;
    const queue = new LimitedQueue({ maxRunning: 1 });
    const node = { id: randomUUID(), lastNumber: 0, absences: 0, queue, hasStopped: false };
    const ask = async (roomId: string) => hasOtherNodes(parts.bus) && this.#questions.load(roomId);
    this.#roomParts = { ...parts, node, ask };
    // The other nodes may have missed reports.
    parts.bus.onStateChange(() => this.#renew());
  }

  /** `viewer` is present while the stream is open; null for a viewer who is not shown. @throws ClientError. */
  subscribe(roomId: string, ...given: Parameters<PresenceRoom['subscribe']>): Promise<Stream> {
    return this.#use(roomId, (room) => room.subscribe(...given));
  }

  async read(roomId: string): Promise<PresenceState> {
    if (!hasOtherNodes(this.#parts.bus)) return this.#rooms.get(roomId)?.read() ?? joinPresence(roomId, []);
    return this.#use(roomId, (room) => {
      room.keepForQueries();
      return room.read();
    });
  }

  startTyping(roomId: string, ...given: Parameters<PresenceRoom['startTyping']>): Promise<void> {
    return this.#use(roomId, (room) => room.startTyping(...given));
  }

  stopTyping(roomId: string, userId: string): void {
    this.#parts.bus.publish({ type: 'typingStopped', roomId, userId });
  }

  /** Credentials of the user were revoked, or the API key was: a connection that was lost does not come back. */
  forget(revoked: { userId: string } | { keyId: string }): void {
    for (const { own } of [...this.#rooms.values()]) own.forget(revoked);
  }

  /** Reports everything about these rooms to the other nodes. Resolves when it is published. */
  async report(roomIds: readonly string[]): Promise<void> {
    await Promise.all(roomIds.map((id) => this.#rooms.get(id)?.reports.reportAll()));
  }

  /** Cuts every connection; clients connect to another server. */
  async close(): Promise<void> {
    const rooms = [...this.#rooms.values()];
    const disconnected = Promise.all(rooms.map((room) => room.disconnect()));
    // The timer keeps the process alive: reports that wait for the bus do not, and the stop would never be completed.
    const timeout = new AbortController();
    await Promise.race([disconnected, wait(closeTimeoutMs, undefined, { signal: timeout.signal }).catch(() => {})]);
    timeout.abort();
    this.#roomParts.node.hasStopped = true;
    for (const room of rooms) room.close();
  }

  #renew(): void {
    if (!this.#parts.bus.isUp()) return;
    for (const { reports } of this.#rooms.values()) void reports.reportAll();
  }

  #use<T>(roomId: string, work: (room: PresenceRoom) => T | Promise<T>): Promise<T> {
    const room = this.#rooms.get(roomId) ?? new PresenceRoom(roomId, this.#roomParts, () => this.#rooms.delete(roomId));
    this.#rooms.set(roomId, room);
    return room.use(() => work(room));
  }
}
