import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import DataLoader from 'dataloader';
import { LimitedQueue } from '../../common/limited-queue.ts';
import { withinTime } from '../../common/within-time.ts';
import { ClientError, codeOf, type ErrorCode } from '../../errors.ts';
import { type BusMessage, hasOtherNodes, presenceTopic, roomTopic } from '../bus/bus.ts';
import type { FanOut } from '../fan-out.ts';
import type { AccessHolder, Feed } from '../feed/feed.ts';
import type { StreamEnd } from '../live-counts.ts';
import { createPace, type Pace } from '../pace.ts';
import { type StateRequest, type StateStream, StateStreams } from '../states/state-streams.ts';
import type { Stream } from '../stream.ts';
import { absenceMs, OwnPresence, type PresentViewer } from './own-presence.ts';
import { joinPresence, type PresenceState } from './presence-state.ts';
import { PresenceReports, type PresenceReportsParts } from './reports.ts';

/** At most four states in a second. */
const sendIntervalMs = 250;
/** Queries that follow each other do not ask the other nodes again. */
const keptForQueriesMs = 10_000;
/** After these ends the client is expected to connect again. */
const mayReturn: ReadonlySet<StreamEnd | ErrorCode> = new Set(['disconnected', 'server_stop']);
/** The rooms of one question to the other nodes. */
const maxAsked = 100;
/** The maximum time in which the other nodes are informed that this node stops. */
const closeTimeoutMs = 500;

interface PresenceRoomParts extends Omit<PresenceReportsParts, 'roomId' | 'own' | 'onReport'> {
  fanOut: FanOut;
  /** Asks the other nodes to report everything. Resolves when they have. */
  ask: (roomId: string) => Promise<unknown>;
}

/** The presence in one room, as this node sees it. It is open while somebody uses it. */
class PresenceRoom implements Iterable<AccessHolder> {
  readonly roomId: string;
  readonly streams: StateStreams<PresenceState>;
  readonly own: OwnPresence;
  readonly reports: PresenceReports;
  readonly #parts: PresenceRoomParts;
  readonly #onUnused: () => void;
  readonly #sending: Pace;
  readonly #opened: Promise<void>;
  readonly #leaves: (() => void)[] = [];
  #feed: Promise<Feed> | undefined;
  #uses = 0;
  #isKept = false;
  #isClosed = false;

  constructor(roomId: string, parts: PresenceRoomParts, onUnused: () => void) {
    this.roomId = roomId;
    this.#parts = parts;
    this.#onUnused = onUnused;
    const { fanOut, onError } = parts;
    this.streams = new StateStreams({ fanOut, name: `presence ${roomId}`, read: () => this.read(), onError });
    this.#sending = createPace(sendIntervalMs, () => this.streams.send(), onError);
    this.own = new OwnPresence(parts.node, (userId) => this.#changeOwn(userId));
    this.reports = new PresenceReports({ roomId, own: this.own, onReport: () => this.#sending.request(), ...parts });
    this.#opened = this.#open();
  }

  /** Does work with the open room, and keeps it open meanwhile. */
  async use<T>(work: () => T | Promise<T>): Promise<T> {
    this.#uses += 1;
    try {
      await this.#opened;
      return await work();
    } finally {
      this.#uses -= 1;
      this.#closeIfUnused();
    }
  }

  /** Keeps it open for the next queries. */
  keepForQueries(): void {
    if (this.#isKept) return;
    this.#isKept = true;
    void this.use(async () => {
      await wait(keptForQueriesMs, undefined, { ref: false });
      this.#isKept = false;
    });
  }

  read(): PresenceState {
    return joinPresence(this.roomId, [this.own, ...this.reports.pages()]);
  }

  /**
   * Creates a stream of the presence on a connection. Once it is started, `viewer` is present until it ends; null for a
   * stream that does not show its viewer. @throws ClientError ROOM_DELETED or SUBSCRIPTION_LIMIT_EXCEEDED.
   */
  async subscribe(
    request: StateRequest<PresenceState>,
    viewer: PresentViewer | null,
    connection: object,
  ): Promise<StateStream<PresenceState>> {
    const feed = await this.#watchAccess();
    let hasEntered = false;
    const stream = this.streams.subscribe(request, {
      onStart: () => {
        hasEntered = true;
        if (viewer) this.own.enter(viewer, connection);
      },
      onEnd: (reason) => {
        if (viewer && hasEntered) this.own.leave(viewer, connection, mayReturn.has(reason));
        this.#closeIfUnused();
      },
    });
    // Later changes of access are found by the feed. This check covers the changes before now.
    try {
      await feed.checkAccess([stream]);
      return stream;
    } catch (error) {
      stream.stop(codeOf(error));
      throw error;
    }
  }

  async startTyping(...given: Parameters<OwnPresence['startTyping']>): Promise<void> {
    await this.#watchAccess();
    this.own.startTyping(...given);
  }

  *[Symbol.iterator](): Generator<AccessHolder> {
    yield* this.streams.open;
    yield* this.own.holders();
  }

  /**
   * Cuts every connection. The other nodes expect the clients for as long as those of a lost connection. Resolves when
   * they know.
   */
  async disconnect(): Promise<void> {
    this.streams.close();
    await this.reports.shortenLease(absenceMs);
  }

  close(): void {
    this.#close();
    this.own.clear();
  }

  async #open(): Promise<void> {
    const { bus, ask } = this.#parts;
    for (const topic of [roomTopic(this.roomId), presenceTopic(this.roomId)])
      this.#leaves.push(await bus.subscribe(topic, (message) => this.#receive(message)));
    await ask(this.roomId);
  }

  /** Resolves when later changes of access are found. @throws ClientError ROOM_DELETED. */
  async #watchAccess(): Promise<Feed> {
    this.#feed ??= this.#openFeed();
    const feed = await this.#feed;
    if (feed.deleted) throw new ClientError('ROOM_DELETED');
    return feed;
  }

  async #openFeed(): Promise<Feed> {
    try {
      const feed = await this.#parts.fanOut.feeds.acquire(this.roomId);
      feed.holders.add(this);
      return feed;
    } catch (error) {
      this.#feed = undefined;
      throw error;
    }
  }

  #receive(message: BusMessage): void {
    if (message.type === 'roomChanged' && message.event.type === 'PostCreated')
      this.own.stopTyping(message.event.actorId ?? '');
    if (message.type === 'typingStopped') this.own.stopTyping(message.userId);
    if (message.type === 'userMuted') this.own.mute(message.userId);
    if (message.type === 'presencePageReported') this.reports.receive(message);
  }

  #changeOwn(userId: string | undefined): void {
    if (this.#isClosed) return;
    this.#sending.request();
    this.reports.noteChange(userId);
    this.#closeIfUnused();
  }

  #closeIfUnused(): void {
    if (this.#uses > 0 || this.streams.open.size > 0 || !this.own.isEmpty) return;
    if (!this.#isClosed) void this.reports.reportChanges();
    this.#close();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#onUnused();
    this.#sending.stop();
    for (const leave of this.#leaves) leave();
    this.reports.stop();
    const leave = (feed: Feed) => {
      feed.holders.delete(this);
      this.#parts.fanOut.feeds.release(this.roomId);
    };
    this.#feed?.then(leave).catch(() => {});
  }
}

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
    await withinTime<unknown>(closeTimeoutMs, disconnected, () => {});
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
