import { expect } from 'vitest';
import { createFaultProxy, type FaultProxy } from '../clients/fault-proxy.ts';
import { openClient } from '../clients/postroom-client.ts';
import { seqOf } from '../rooms/cursors.ts';
import type { Person } from '../server/postroom.ts';
import type { InboxEvent } from './inbox-stream.ts';
import { inboxQuery } from './inbox-stream.ts';

const retryWaitMs = 20;

/** An event as a device received it. */
export interface Received {
  type: string;
  seq: number;
  title: string | undefined;
  userId: string | undefined;
  /** Whether its message says that events before it were left out. */
  hasGap: boolean;
  at: number;
}

/** A change of the viewer's memberships. The times are those of this process, and only compared with each other. */
export interface MembershipChange {
  roomId: string;
  /** The event that tells a device of it. */
  event: 'MemberJoined' | 'MemberLeft' | 'RoomDeleted';
  /** When the request was sent. */
  from: number;
  /** When each device was known to have received the event, or to have been away. */
  until: number;
}

/** One device of a user: @postroom/client, behind a proxy that cuts its connection. */
export class Device {
  /** The events of each room, in the order of arrival. */
  readonly rooms = new Map<string, Received[]>();
  /** The positions of the rooms at which the inbox became live first. */
  start: Map<string, number> | undefined;
  count = 0;
  /** The times during which it had no live inbox. */
  readonly #absences: { from: number; until: number }[] = [];
  readonly failed = Promise.withResolvers<never>();
  readonly #proxy: FaultProxy;
  /** Called when an event has arrived. */
  #onEvent: () => void = () => {};

  private constructor(proxy: FaultProxy) {
    this.#proxy = proxy;
    this.failed.promise.catch(() => {});
  }

  /** Resolves when its inbox is live. */
  static async open(
    graphqlUrl: string,
    { token }: Person,
    onClose: (close: () => Promise<void>) => void,
  ): Promise<Device> {
    const proxy = await createFaultProxy(graphqlUrl);
    onClose(() => proxy.close());
    const device = new Device(proxy);
    const { live } = openClient(proxy.url, { token, retryWaitMs: () => retryWaitMs });
    const started = Promise.withResolvers<void>();
    live.on('ping', (_, payload) => {
      const [cursors] = Object.values(payload?.['live'] ?? {});
      if (!cursors) return;
      for (const absence of device.#absences) absence.until = Math.min(absence.until, Date.now());
      device.start ??= new Map(Object.entries(cursors).map(([room, cursor]) => [room, seqOf(String(cursor))]));
      started.resolve();
    });
    live.subscribe<{ inbox: InboxEvent }>(
      { query: inboxQuery },
      {
        next: ({ data, errors, extensions }) =>
          data ? device.#take(data.inbox, (extensions as { live: { gap?: true } }).live.gap) : device.#fail(errors),
        error: (error) => device.#fail(error),
        complete: () => device.#fail('complete'),
      },
    );
    await Promise.race([started.promise, device.failed.promise]);
    return device;
  }

  /** Cuts the connection now, and once more while the client reconnects. */
  cut(): void {
    this.#cut();
    setTimeout(() => this.#cut(), 2 * retryWaitMs);
  }

  /** The connection goes to another server from now on. */
  moveTo(url: string): void {
    this.#absences.push({ from: Date.now(), until: Number.POSITIVE_INFINITY });
    this.#proxy.retarget(url);
  }

  /** Whether it had no live inbox at some time between these. */
  wasAway({ from, until }: Pick<MembershipChange, 'from' | 'until'>): boolean {
    return this.#absences.some((absence) => absence.from < until && absence.until > from);
  }

  /** The event that told it of the change. */
  findEvent({ roomId, event, from }: MembershipChange, { id }: Person): Received | undefined {
    const fits = ({ type, userId, at }: Received) =>
      type === event && (type === 'RoomDeleted' || userId === id) && at >= from;
    return this.rooms.get(roomId)?.find(fits);
  }

  /** Resolves when it has received the event of the change, or has been away since its request. */
  async untilTold(change: MembershipChange, viewer: Person): Promise<void> {
    const { roomId, event } = change;
    const isTold = () => this.wasAway(change) || this.findEvent(change, viewer) !== undefined;
    await Promise.race([expect.poll(isTold, { message: `${event} of ${roomId}` }).toBe(true), this.failed.promise]);
  }

  /** Resolves when it has received the post, or has no live inbox. */
  async untilReplayed(roomId: string, title: string): Promise<void> {
    const isAway = () => this.#absences.some(({ until }) => until === Number.POSITIVE_INFINITY);
    const hasPost = () => this.rooms.get(roomId)?.some((received) => received.title === title);
    const isReplayed = () => isAway() || hasPost() === true;
    await Promise.race([expect.poll(isReplayed, { message: title }).toBe(true), this.failed.promise]);
  }

  /** Resolves when an event fits. */
  async until(fits: () => boolean): Promise<void> {
    while (!fits()) {
      const arrived = new Promise<void>((resolve) => {
        this.#onEvent = resolve;
      });
      await Promise.race([arrived, this.failed.promise]);
    }
  }

  #cut(): void {
    this.#absences.push({ from: Date.now(), until: Number.POSITIVE_INFINITY });
    this.#proxy.cut();
  }

  #fail(reason: unknown): void {
    this.failed.reject(new Error(`An inbox ended: ${JSON.stringify(reason)}`));
  }

  #take({ __typename: type, cursor, room, post, user }: InboxEvent, hasGap = false): void {
    const events = this.rooms.get(room.id) ?? [];
    events.push({ type, seq: seqOf(cursor), title: post?.title, userId: user?.id, hasGap, at: Date.now() });
    this.rooms.set(room.id, events);
    this.count += 1;
    this.#onEvent();
  }
}
