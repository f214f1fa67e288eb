import { ClientError } from '../src/errors.ts';
import { decodeCursor, encodeCursor, type RoomPosition } from '../src/live/cursor.ts';
import type { Stream, StreamMessage } from '../src/live/stream.ts';
import type { Committed } from './model.ts';
import type { RunContext } from './run-context.ts';

/** What a client subscribes to. */
export type Subscribed =
  | { kind: 'room'; roomId: string; isPersonal: boolean }
  | { kind: 'inbox' }
  | { kind: 'presence'; roomId: string };

/** How long after the access to a room has changed a client may still be refused for it. */
const excuseMs = 30_000;
/** The time after which a session that was ended receives nothing. */
const sessionMs = 2_000;
/** The time after which a deleted post is not sent. */
const deletionMs = 5_000;

/** Compares what one subscription receives with the model: every event once, in order, or a notice. */
export class StreamCheck {
  /** The position after the last event that it has received, by room; undefined before the first. */
  positions: Map<string, RoomPosition> | undefined;
  /** The users that its latest state shows as present. */
  present: readonly string[] | undefined;
  /** How often it was notified that it has missed events. */
  notices = 0;
  /** When its present credentials were read. */
  signedInAt = 0;
  /** An earlier state of `positions`. */
  #earlier: Map<string, RoomPosition> | undefined;
  /** The cursor of another room that it sends with the next connection. */
  #foreign: RoomPosition | undefined;
  readonly #run: RunContext;
  readonly #name: string;
  readonly #userId: string;
  readonly #follows: Subscribed;

  constructor(run: RunContext, name: string, userId: string, follows: Subscribed) {
    this.#run = run;
    this.#name = name;
    this.#userId = userId;
    this.#follows = follows;
  }

  /** The cursors to resume after; undefined if it begins with the next event. */
  cursors(): readonly string[] | undefined {
    if (!this.positions || this.#follows.kind === 'presence') return undefined;
    if (this.#foreign) return [encodeCursor(this.#foreign)];
    return Array.from(this.positions.values(), encodeCursor);
  }

  /** Forgets the events since an earlier moment: it receives them again. */
  goBack(): void {
    const current = this.positions;
    if (this.#earlier) this.positions = this.#earlier;
    this.#earlier = current && new Map(current);
  }

  /** The next connection asks for a room with the cursor of another one. */
  takeForeignCursor(): void {
    const { model, scheduler } = this.#run;
    if (this.#follows.kind !== 'room' || !this.positions || model.rooms.size < 2) return;
    const { roomId } = this.#follows;
    const [other, { head }] = scheduler.random.pick([...model.rooms].filter(([id]) => id !== roomId));
    this.#foreign = { roomId: other, ...head };
  }

  /** Checks the rights at the moment in which the node writes. */
  written({ json }: StreamMessage): void {
    if (this.#follows.kind === 'presence') return;
    const { model, scheduler } = this.#run;
    const revokedAt = model.revoked.get(this.#userId);
    const isLate = revokedAt !== undefined && revokedAt >= this.signedInAt && scheduler.now - revokedAt > sessionMs;
    if (isLate && !this.#run.mayBeLate)
      this.#fail(`it was sent an event ${Math.round(scheduler.now - revokedAt)} ms after its session ended`);
    const event = this.#find(json);
    const { roomEvents, inbox } = JSON.parse(json).data ?? {};
    const deletedAt = model.deletedPosts.get((roomEvents ?? inbox)?.post?.id);
    if (
      deletedAt !== undefined &&
      scheduler.now - deletedAt > deletionMs &&
      model.rewinds === 0 &&
      !this.#run.mayBeLate
    )
      this.#fail(`it was sent a post ${Math.round(scheduler.now - deletedAt)} ms after its deletion`);
    const isOwnEnd = this.#follows.kind === 'inbox' && event?.type === 'MemberLeft' && event.subjectId === this.#userId;
    const leak = event && !isOwnEnd && model.findLeak(this.#userId, event);
    if (event && leak && !(leak.isLate && this.#run.mayBeLate))
      this.#fail(`it was sent ${event.type} ${event.seq} of room ${event.roomId}, and ${leak.reason}`);
  }

  #find(json: string): Committed | undefined {
    const { live } = JSON.parse(json).extensions ?? {};
    const position = live?.cursor === undefined ? undefined : decodeCursor(live.cursor);
    if (!position) return undefined;
    return this.#run.model.committed.get(`${position.roomId} ${position.seq} ${position.mark}`);
  }

  receivePosition(cursor: Stream['cursor']): void {
    if (cursor === undefined) return;
    const cursors = typeof cursor === 'string' ? [cursor] : Object.values(cursor);
    if (this.#foreign) return this.#fail(`it asked with a cursor of room ${this.#foreign.roomId}, and was not refused`);
    const announced = new Map(cursors.map((text) => toPosition(text)).map((position) => [position.roomId, position]));
    for (const [roomId, before] of this.positions ?? []) this.#checkAnnounced(before, announced.get(roomId));
    for (const [roomId, start] of announced)
      if (this.positions && !this.positions.has(roomId)) this.#checkEntering(start, this.#run.model.next(start));
    this.positions = announced;
  }

  #checkAnnounced(before: RoomPosition, now: RoomPosition | undefined): void {
    const { model } = this.#run;
    const { roomId } = before;
    if (!now) {
      // What docs/resume.md excepts: the room ended for this user while the client was away.
      if (!model.wasNoMember(this.#userId, roomId, excuseMs) && !this.#isAfterRewind)
        this.#fail(`its inbox no longer has room ${roomId}, of which the user is a member`);
      return;
    }
    if (now.seq === before.seq && now.mark === before.mark) return;
    const next = model.next(now);
    const isRejoin = now.seq > before.seq && next?.type === 'MemberJoined' && next.subjectId === this.#userId;
    if (!(this.#follows.kind === 'inbox' && isRejoin))
      this.#fail(`it asked to resume room ${roomId} after ${before.seq}, and the stream starts after ${now.seq}`);
  }

  receiveNext(json: string): void {
    const { data, errors, extensions } = JSON.parse(json);
    if (errors && !data) return this.#fail(`it received errors: ${JSON.stringify(errors)}`);
    if (this.#follows.kind === 'presence') {
      this.present = data.roomPresence.users.map(({ id }: { id: string }) => id).sort();
      return;
    }
    const event = data.roomEvents ?? data.inbox;
    const live = extensions.live;
    const position = toPosition(live.cursor);
    const positions = this.positions ?? new Map<string, RoomPosition>();
    this.positions = positions;
    this.#run.delivered += 1;
    if (event.cursor !== live.cursor) this.#fail(`it received an event with two cursors: ${json}`);
    const before = positions.get(position.roomId);
    // They have the position of the event before, and are not in the log.
    if (event.__typename === 'RoomDeleted') return void positions.delete(position.roomId);
    if (event.__typename === 'RoomRead') {
      if (before && before.seq !== position.seq)
        this.#fail(`it is at ${before.seq} of room ${position.roomId}, and received RoomRead at ${position.seq}`);
      positions.set(position.roomId, position);
      return;
    }
    this.#checkNext(before, position, event.__typename);
    const { subjectId } = this.#find(json) ?? {};
    const subject = event.post ?? event.user;
    if (subject && subject.id !== subjectId) this.#fail(`it received ${json}, and the event is about ${subjectId}`);
    if (live.ended) positions.delete(position.roomId);
    else positions.set(position.roomId, position);
  }

  #checkNext(before: RoomPosition | undefined, position: RoomPosition, type: string): void {
    const { model } = this.#run;
    const { roomId, seq, mark } = position;
    const event = model.committed.get(`${roomId} ${seq} ${mark}`);
    if (!event) return this.#fail(`it received event ${seq} of room ${roomId}, which was never committed`);
    if (type !== event.type)
      return this.#fail(`it received event ${seq} of room ${roomId} as ${type} instead of ${event.type}`);
    this.#run.note(`${this.#name} receives ${type} ${seq} of ${roomId}`);
    if (before) {
      // docs/resume.md: of a room that the user has lost and that is private, events may be left out before the MemberLeft.
      const isOwnEnd = type === 'MemberLeft' && event.subjectId === this.#userId;
      const isPrivate = event.audience !== undefined || model.rooms.get(roomId)?.isPrivate;
      if (this.#follows.kind === 'inbox' && isOwnEnd && isPrivate && seq > before.seq) return;
      if (seq !== before.seq + 1 || event.previousMark !== before.mark)
        this.#fail(
          `after event ${before.seq} of room ${roomId} it received ${seq}${seq === before.seq + 1 ? ' of another history' : ''}`,
        );
    } else if (this.#follows.kind === 'inbox' && !model.isGone(position)) {
      // An event of a lost history is followed by CURSOR_EXPIRED.
      this.#checkEntering({ roomId, seq: seq - 1, mark: event.previousMark }, event);
    }
  }

  /** A room enters an inbox with the MemberJoined of its user, or with the oldest event of the log. */
  #checkEntering({ roomId, seq }: RoomPosition, next: Committed | undefined): void {
    const { model } = this.#run;
    const isJoin = next?.type === 'MemberJoined' && next.subjectId === this.#userId;
    if (!isJoin && !model.isTrimmed(roomId, seq - 1) && !this.#isAfterRewind)
      this.#fail(`room ${roomId} enters its inbox with ${next?.type} ${seq + 1}, not with the user's MemberJoined`);
  }

  /** Whether nodes and clients may still have events of a lost history. */
  get #isAfterRewind(): boolean {
    const { model, scheduler } = this.#run;
    return scheduler.now - model.rewoundAt < excuseMs;
  }

  receiveError(code: string, live: { cursor?: string; cursors?: Record<string, string> } | undefined): void {
    const { model } = this.#run;
    const follows = this.#follows;
    this.#run.note(`${this.#name} is ended with ${code} ${JSON.stringify(live ?? '')}`);
    const roomId = follows.kind === 'inbox' ? undefined : follows.roomId;
    const foreign = this.#foreign;
    this.#foreign = undefined;
    if (foreign && code === 'CURSOR_INVALID') return;
    switch (code) {
      case 'CURSOR_EXPIRED':
      case 'SLOW_CONSUMER': {
        this.notices += 1;
        if (!this.#mayBeExpired()) this.#fail(`it was ended with ${code}, although the log has its position`);
        const cursors = live?.cursors ? Object.values(live.cursors) : [live?.cursor ?? ''];
        if (cursors[0] === '') return this.#fail(`${code} has no cursor`);
        this.positions = new Map(cursors.map(toPosition).map((position) => [position.roomId, position]));
        return;
      }
      case 'CURSOR_INVALID':
        // A rewind may lose a membership, so that the room of a cursor is not one of the user's.
        if (follows.kind !== 'inbox' || model.rewinds === 0) this.#fail('its cursors were refused as invalid');
        this.notices += 1;
        this.positions = undefined;
        return;
      case 'UNAUTHENTICATED':
        if (!model.revoked.has(this.#userId) && model.rewinds === 0)
          this.#fail('its session was ended without a reason');
        return;
      case 'ROOM_DELETED':
        this.positions = undefined;
        if (roomId === undefined || !model.ended.has(roomId)) this.#fail('its room was reported as deleted');
        return;
      case 'NOT_FOUND':
      case 'MEMBERSHIP_REVOKED':
        this.positions = undefined;
        if (roomId === undefined) this.#fail(`it was ended with ${code}`);
        else if (!model.wasHidden(this.#userId, roomId, excuseMs) && !this.#run.mayBeLate)
          this.#fail(`it was refused with ${code}, although the user may see the room`);
        return;
      default:
        this.#fail(`it was ended with ${code}`);
    }
  }

  /** Whether the events after one of its positions may no longer be read: by anybody, or by its user. */
  #mayBeExpired(): boolean {
    const { model } = this.#run;
    return (
      this.#isAfterRewind ||
      [...(this.positions?.values() ?? [])].some(
        ({ roomId, seq }) => model.isTrimmed(roomId, seq) || !model.maySee(this.#userId, roomId),
      )
    );
  }

  #fail(message: string): void {
    this.#run.fail(`${this.#name} of ${this.#userId} (${this.#follows.kind}): ${message}`);
  }
}

function toPosition(cursor: string): RoomPosition {
  const position = decodeCursor(cursor);
  if (!position) throw new ClientError('CURSOR_INVALID', `The server sent ${cursor}, which is not a cursor.`);
  return position;
}
