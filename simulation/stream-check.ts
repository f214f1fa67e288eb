import type { Viewer } from '../src/identity/viewer.ts';
import { decodeCursor, encodeCursor, type RoomPosition } from '../src/live/cursor.ts';
import type { Stream } from '../src/live/stream.ts';
import { findWrongField, findWrongRead } from './content-check.ts';
import type { Committed, Model, UserEvent } from './model.ts';
import type { Node } from './node.ts';
import { PackageClient } from './package-client.ts';
import type { RunContext } from './run-context.ts';
import { type EventData, eventOf, type LiveExtension, type LiveMessage, type Received } from './socket.ts';

/** What a client subscribes to. */
export type Subscribed =
  | { kind: 'room'; roomId: string; isPersonal: boolean }
  | { kind: 'inbox' }
  /** The subscription of an extension, with two types of events. */
  | { kind: 'tasks'; roomId: string }
  | { kind: 'presence'; roomId: string };

/** How long a node may need to notice a change whose message was lost: a comparison of 1.5 s, and some reads. */
const noticeMs = 4_000;
/** Within this time the stream of a client that reads ends if its user may not have it any more. */
const endMs = 5_000;
/** Within this time a room leaves the inbox of a client that reads. */
const departureMs = 8_000;
/** Within this time a client that has been away and receives events of a room has received those that it has missed. */
const catchUpMs = 2_000;
/** The time after which a deleted post is not sent. */
const deletionMs = 5_000;

/** Compares what one subscription receives with the model: every event once, in order, or a notice. */
export class StreamCheck {
  /** The position after the last event that it has received, by room; undefined before the first. */
  positions: Map<string, RoomPosition> | undefined;
  /** The position in the log of its user, which an earlier client does not know. */
  #userPosition: RoomPosition | undefined;
  readonly #isEarlier: boolean;
  /** The number in that log after which it has missed nothing without a notice. */
  #since: number | undefined;
  /** The number in that log at which the present stream has started. */
  #userStart = 0;
  /** The users that its latest state shows as present. */
  present: readonly string[] | undefined;
  /** When it has received the latest event of each room. */
  readonly #receivedAt = new Map<string, number>();
  /** How often it was notified that it has missed events. */
  notices = 0;
  /** Where the user's memberships have ended that it has received, by room. */
  #ends = new Map<string, RoomPosition>();
  /** An earlier state of `positions`, `#ends` and `#userPosition`. */
  #earlier: Pick<StreamCheck, 'positions'> & { ends: Map<string, RoomPosition>; user: RoomPosition | undefined } = {
    positions: undefined,
    ends: new Map(),
    user: undefined,
  };
  /** The cursor of another room that it sends with the next connection. */
  #foreign: RoomPosition | undefined;
  /** The client has not kept its cursors as it should, and was not announced a position since. */
  #isDisturbed = false;
  readonly #package = new PackageClient();
  /** The node of the present connection. */
  #node = '';
  #nodeHasExtensions = false;
  #connectedAt = 0;
  /** The number of its session; undefined before it has one. */
  #session: number | undefined;
  /** When the node has announced the position at which the stream starts. */
  #openedAt: number | undefined;
  readonly #run: RunContext;
  readonly #name: string;
  readonly #userId: string;
  readonly #follows: Subscribed;

  constructor(run: RunContext, name: string, userId: string, follows: Subscribed) {
    this.#run = run;
    this.#name = name;
    this.#userId = userId;
    this.#follows = follows;
    this.#isEarlier = run.scheduler.random.chance(0.3);
  }

  /** The client connects to a node. Returns the cursors to resume after; undefined if it begins with the next event. */
  connect({ name, hasExtensions }: Node): readonly string[] | undefined {
    this.#node = name;
    this.#nodeHasExtensions = hasExtensions;
    this.#connectedAt = this.#now;
    this.#openedAt = undefined;
    this.#session = undefined;
    this.present = undefined;
    const kept = this.#package.connect();
    if (!this.positions || this.#follows.kind === 'presence') return undefined;
    if (this.#foreign) return [encodeCursor(this.#foreign)];
    const cursors = Array.from(this.positions.values(), encodeCursor);
    if (this.#userPosition) cursors.push(encodeCursor(this.#userPosition));
    const missing = kept && cursors.find((cursor) => !kept.includes(cursor));
    const isLonger = kept && kept.length > cursors.length + Number(this.#isEarlier);
    if (!this.#isDisturbed && (missing || isLonger))
      this.#fail(`@postroom/client has kept ${JSON.stringify(kept)} instead of ${JSON.stringify(cursors)}`);
    return cursors;
  }

  /** The node has accepted its credential. */
  signIn(credential: Viewer['credential']): void {
    if (credential.kind === 'session') this.#session = credential.sessionsFrom;
  }

  /** Forgets the events since an earlier moment: it receives them again. */
  goBack(): void {
    const { positions } = this;
    this.#isDisturbed = true;
    const current = { positions: positions && new Map(positions), ends: new Map(this.#ends), user: this.#userPosition };
    if (this.#earlier.positions) {
      this.positions = this.#earlier.positions;
      this.#ends = this.#earlier.ends;
      this.#userPosition = this.#earlier.user;
    }
    this.#earlier = current;
  }

  /** The next connection asks for a room with the cursor of another one. */
  takeForeignCursor(): void {
    const { model, scheduler } = this.#run;
    if (this.#follows.kind !== 'room' || !this.positions || model.rooms.size < 2) return;
    const { roomId } = this.#follows;
    const [other, { head }] = scheduler.random.pick([...model.rooms].filter(([id]) => id !== roomId));
    this.#foreign = { roomId: other, ...head };
  }

  /** An inbox forgets the cursors of some rooms. */
  forgetSome(): void {
    if (this.#follows.kind !== 'inbox') return;
    this.#isDisturbed = true;
    for (const roomId of this.positions?.keys() ?? [])
      if (this.#run.scheduler.random.chance(0.5)) this.positions?.delete(roomId);
  }

  /** Checks the rights, and the reasons of an end, at the moment in which the node writes. */
  written(received: Received): void {
    if (received.kind === 'next') {
      this.#checkRights(received.message);
      this.#checkContent(received.message);
    } else if (received.kind === 'error') this.#checkEnd(received.code, received.live);
    else if (received.kind === 'position') {
      this.#openedAt = this.#now;
      const [start] = Object.values(received.userCursor ?? {});
      this.#userStart = start === undefined ? 0 : toPosition(start).seq;
      if (received.cursor !== undefined) this.#checkStart(this.#toPositions(received.cursor), start);
      if (this.#userPosition && start !== encodeCursor(this.#userPosition))
        this.#fail(
          `it asked to resume the log of its user after ${this.#userPosition.seq}, and was announced ${start}`,
        );
    }
  }

  receive(received: Received): void {
    this.#package.receive(received);
    if (received.kind === 'next') this.#receiveNext(received.message);
    else if (received.kind === 'error') this.#receiveEnd(received.code, received.live);
    else if (received.kind === 'position' && received.cursor !== undefined) {
      this.#run.note(`${this.#name} is announced ${JSON.stringify([received.cursor, received.userCursor])}`);
      this.positions = this.#toPositions(received.cursor);
      this.#isDisturbed = false;
      const [start] = Object.values(received.userCursor ?? {});
      if (start !== undefined && !this.#isEarlier) this.#userPosition = toPosition(start);
      this.#since ??= this.#userPosition?.seq;
    }
  }

  /** What was committed some seconds ago has arrived. `liveMs`: for how long the client has been connected and has read. */
  checkArrivals(liveMs: number): void {
    const { model, arrivalMs } = this.#run;
    if (this.#mayBeLate || this.#isRewound(Math.max(arrivalMs, noticeMs))) return;
    if ((this.#sinceSessionEnded ?? 0) > endMs) this.#fail('its session was ended, and its stream was not');
    if (this.#follows.kind !== 'inbox') {
      const { roomId } = this.#follows;
      if ((model.sinceLost(this.#userId, roomId) ?? 0) > endMs && !this.#isRestored(roomId))
        this.#fail(`room ${roomId} has ended for its user, and its stream has not`);
    }
    if (this.#follows.kind === 'presence') return;
    for (const position of this.positions?.values() ?? [])
      if (model.isGone(position) && !model.isTrimmed(position.roomId, position.seq - 1))
        this.#fail(`it is at event ${position.seq} of a lost history of room ${position.roomId}`);
    const rooms = this.#follows.kind === 'inbox' ? model.roomsOf(this.#userId) : [this.#follows.roomId];
    for (const roomId of rooms) {
      const isRecent =
        this.#follows.kind === 'inbox'
          ? model.sinceMoved(this.#userId, roomId) < arrivalMs || this.#isRestored(roomId)
          : model.wasHidden(this.#userId, roomId, arrivalMs);
      // A client that has been away receives one event after the other, for a time.
      const isReceiving = this.#now - (this.#receivedAt.get(roomId) ?? 0) < arrivalMs;
      const ageMs = isReceiving ? arrivalMs + catchUpMs : arrivalMs;
      if (isRecent || liveMs <= ageMs) continue;
      const [seq, head] = [this.positions?.get(roomId)?.seq, model.headBefore(roomId, ageMs, typesOf(this.#follows))];
      if (seq === undefined || seq < head)
        this.#fail(`it is at ${seq} of room ${roomId}, which had event ${head} ${ageMs} ms ago`);
    }
    if (this.#follows.kind !== 'inbox') return;
    this.#isDisturbed = true;
    for (const roomId of this.positions?.keys() ?? [])
      if (!model.isMember(this.#userId, roomId) && model.sinceMoved(this.#userId, roomId) > departureMs)
        this.#fail(`it was not told that room ${roomId} is no longer one of its rooms`);
    if (!this.#userPosition) return;
    if (model.isUserEventGone(this.#userPosition))
      this.#fail(`it is at event ${this.#userPosition.seq} of a lost history of its user`);
    this.#checkReads(this.#userPosition.seq, Number.POSITIVE_INFINITY, arrivalMs);
  }

  /** Every RoomRead between two numbers that was committed some time ago has arrived. */
  #checkReads(after: number, before: number, ageMs: number): void {
    const { model } = this.#run;
    const isMissed = (event: ReturnType<Model['userEventsAfter']>[number]) =>
      event.type === 'RoomRead' &&
      event.seq < before &&
      this.#now - event.at > ageMs &&
      this.positions?.has(event.roomId) &&
      !model.isMovedSince(this.#userId, event) &&
      // A client that has been away receives them after what happened before.
      this.#sinceConnect > ageMs + departureMs;
    const missed = model.userEventsAfter(this.#userId, after).find(isMissed);
    if (missed) this.#fail(`it was not sent RoomRead ${missed.seq} of room ${missed.roomId}`);
  }

  get #now(): number {
    return this.#run.scheduler.now;
  }

  /** Whether its node may not know yet what is true, because reads are late or have failed. */
  get #mayBeLate(): boolean {
    return this.#run.mayBeLate(this.#node);
  }

  /** Whether nodes and clients may still have events of a lost history of its user or its rooms. */
  #isRewound(withinMs: number): boolean {
    const { model } = this.#run;
    if (model.rewinds === 0) return false;
    const rooms =
      this.#follows.kind === 'inbox'
        ? [...(this.positions?.keys() ?? []), ...model.roomsOf(this.#userId)]
        : [this.#follows.roomId];
    const lostAt = [this.#userId, ...rooms].map((id) => model.lostAt.get(id) ?? Number.NEGATIVE_INFINITY);
    const latest = Math.max(...lostAt);
    return this.#now - latest <= withinMs || (this.#mayBeLate && latest > 0);
  }

  /** Whether one of these was lost since the client has connected, or right before. */
  get #isRewoundSince(): boolean {
    return this.#isRewound(this.#sinceConnect + noticeMs);
  }

  /** Whether the deletion of a room was lost since the client has connected, or right before. */
  #isRestored(roomId: string): boolean {
    return (this.#run.model.restored.get(roomId) ?? 0) > this.#connectedAt - noticeMs;
  }

  get #sinceSessionEnded(): number | undefined {
    return this.#session === undefined ? undefined : this.#run.model.sinceSessionEnded(this.#userId, this.#session);
  }

  get #sinceConnect(): number {
    return this.#now - this.#connectedAt;
  }

  #checkRights(message: LiveMessage): void {
    const { extensions } = message;
    const { model, accessMs } = this.#run;
    const sinceEnded = this.#sinceSessionEnded ?? 0;
    if (sinceEnded > accessMs && !this.#mayBeLate)
      this.#fail(`it was sent an event ${Math.round(sinceEnded)} ms after its session ended`);
    if (this.#follows.kind === 'presence') {
      const sinceLost = model.sinceLost(this.#userId, this.#follows.roomId) ?? 0;
      if (sinceLost > accessMs && !this.#mayBeLate && !this.#isRewound(noticeMs))
        this.#fail(`it was sent who is present ${Math.round(sinceLost)} ms after its user lost access`);
      return;
    }
    const deletedAt = model.deletedPosts.get(eventOf(message)?.post?.id ?? '');
    if (deletedAt !== undefined && this.#now - deletedAt > deletionMs && !this.#mayBeLate)
      this.#fail(`it was sent a post ${Math.round(this.#now - deletedAt)} ms after its deletion`);
    const event = this.#find(extensions?.live);
    if (!event || (this.#follows.kind === 'inbox' && this.#isOwnEnd(event))) return;
    const { type, seq, roomId } = event;
    const leak = model.findLeak(this.#userId, event, accessMs);
    if (leak && !(leak.isLate && (this.#mayBeLate || this.#isRewound(noticeMs))))
      this.#fail(`it was sent ${type} ${seq} of room ${roomId}, and ${leak.reason}`);
    const isFormer = this.#follows.kind === 'inbox' && model.rooms.has(roomId) && !model.isMember(this.#userId, roomId);
    if (isFormer && this.#now - event.at + noticeMs < model.sinceMoved(this.#userId, roomId) && !this.#mayBeLate)
      this.#fail(`it was sent ${type} ${seq} of room ${roomId}, of which its user was no longer a member`);
  }

  #checkContent(message: LiveMessage): void {
    const { data, errors, extensions } = message;
    const { model } = this.#run;
    if (errors) this.#fail(`it was sent errors: ${JSON.stringify(errors)}`);
    const { count = 0, users = [] } = data?.roomPresence ?? {};
    // A deleted user counts until the node learns of it.
    if (count < users.length || count > users.length + model.deletedAt.size)
      this.#fail(`it was sent ${users.length} present users, and the count ${count}`);
    const event = eventOf(message);
    const expected = event?.__typename === 'RoomRead' ? this.#findRead(extensions?.live) : this.#find(extensions?.live);
    if (!event || !expected || event.__typename === 'RoomDeleted') return;
    const since = this.#mayBeLate || this.#isRewound(noticeMs) ? undefined : this.#now - noticeMs;
    const written = { model, userId: this.#userId, event, since };
    const wrong = 'audience' in expected ? findWrongField(written, expected) : findWrongRead(written, expected);
    const { audience, ...told } = { audience: undefined, ...expected };
    if (wrong) this.#fail(`it was sent ${JSON.stringify(event)}, and ${wrong} is wrong: ${JSON.stringify(told)}`);
  }

  #findRead(live: LiveExtension | undefined): UserEvent | undefined {
    const { seq, mark } = toPosition(live?.cursors?.[this.#userId] ?? '');
    return this.#run.model.userEventsAfter(this.#userId, seq - 1).find((event) => event.mark === mark);
  }

  #find(live: LiveExtension | undefined): Committed | undefined {
    const position = live?.cursor === undefined ? undefined : decodeCursor(live.cursor);
    return position && this.#run.model.committed.get(`${position.roomId} ${position.seq} ${position.mark}`);
  }

  /** The event of a message that has only an error, because a read has stalled: what it is follows from its cursors. */
  #findUnread(live: LiveExtension | undefined): EventData | undefined {
    const cursor = live?.cursor;
    if (cursor === undefined) return undefined;
    const { roomId, seq } = toPosition(cursor);
    const committed = this.#find(live);
    const isDeletion = live?.ended === true && this.positions?.get(roomId)?.seq === seq;
    const isRead = live?.cursors?.[this.#userId] !== undefined && this.#findRead(live)?.type === 'RoomRead';
    const ofInbox = isRead ? 'RoomRead' : isDeletion ? 'RoomDeleted' : undefined;
    return { __typename: ofInbox ?? (committed && this.#shownType(committed)) ?? '', cursor };
  }

  /** The type of an event as its node knows it. */
  #shownType({ type }: Committed): string {
    return !this.#nodeHasExtensions && this.#run.model.isOfExtension(type) ? 'OtherEvent' : type;
  }

  #isOwnEnd({ type, subjectId }: Committed): boolean {
    return type === 'MemberLeft' && subjectId === this.#userId;
  }

  #checkStart(announced: ReadonlyMap<string, RoomPosition>, userCursor: string | undefined): void {
    if (this.#foreign) return this.#fail(`it asked with a cursor of room ${this.#foreign.roomId}, and was not refused`);
    for (const [roomId, before] of this.positions ?? []) this.#checkResumed(before, announced.get(roomId));
    for (const [roomId, start] of announced)
      if (this.positions && !this.positions.has(roomId)) this.#checkEntering(start, this.#run.model.next(start));
    this.#checkComplete(announced, userCursor, 'it was announced the positions of its rooms');
  }

  #checkResumed(before: RoomPosition, now: RoomPosition | undefined): void {
    const { model } = this.#run;
    const { roomId } = before;
    if (!now) {
      const user = this.#userPosition;
      const isEnd = ({ roomId: of, type, roomSeq }: { roomId: string; type: string; roomSeq: number }) =>
        of === roomId && type !== 'RoomRead' && type !== 'MemberJoined' && roomSeq >= before.seq;
      if (user && !this.#isRewoundSince && model.userEventsAfter(this.#userId, user.seq).some(isEnd))
        this.#fail(`its inbox no longer has room ${roomId}, of whose end it was not told`);
      const isMember = model.isMember(this.#userId, roomId);
      if (isMember && model.sinceMoved(this.#userId, roomId) > this.#sinceConnect + noticeMs && !this.#isRewoundSince)
        this.#fail(`its inbox no longer has room ${roomId}, of which the user is a member`);
      return;
    }
    if (now.seq === before.seq && now.mark === before.mark) return;
    this.#fail(`it asked to resume room ${roomId} after ${before.seq}, and the stream starts after ${now.seq}`);
  }

  /** An inbox has all rooms of its user, but for those that events after the position in the user's log begin. */
  #checkComplete(positions: ReadonlyMap<string, RoomPosition>, userCursor: string | undefined, what: string): void {
    const { model } = this.#run;
    const after = userCursor === undefined ? Number.POSITIVE_INFINITY : toPosition(userCursor).seq;
    const begun = new Set(model.userEventsAfter(this.#userId, after).map(({ roomId }) => roomId));
    for (const { roomId, seq, mark } of positions.values())
      if (seq > 0 && !model.committed.has(`${roomId} ${seq} ${mark}`) && !model.ended.has(roomId))
        this.#fail(`${what}, and event ${seq} of room ${roomId} was never committed`);
    if (this.#follows.kind !== 'inbox' || this.#mayBeLate || this.#isRewoundSince) return;
    const missing = model
      .roomsOf(this.#userId)
      .find(
        (roomId) =>
          !positions.has(roomId) &&
          !begun.has(roomId) &&
          !this.#isRestored(roomId) &&
          model.sinceMoved(this.#userId, roomId) > this.#sinceConnect + noticeMs,
      );
    if (missing !== undefined) this.#fail(`${what}, without room ${missing}`);
  }

  #receiveNext(message: LiveMessage): void {
    const { data, errors, extensions } = message;
    if (data?.roomPresence) {
      this.present = data.roomPresence.users.map(({ id }) => id).sort();
      return;
    }
    const live = extensions?.live;
    const event = eventOf(message) ?? this.#findUnread(live);
    if (!event || errors?.some(({ extensions: { code } }) => code !== 'SERVICE_UNAVAILABLE'))
      return this.#fail(`it received errors: ${JSON.stringify(errors)}`);
    if (live?.cursor === undefined)
      return this.#fail(`it received a message without an event: ${JSON.stringify(data)}`);
    const position = toPosition(live.cursor);
    const positions = this.positions ?? new Map<string, RoomPosition>();
    this.positions = positions;
    this.#run.delivered += 1;
    if (event.__typename === 'RoomDeleted' || event.__typename === 'RoomRead')
      this.#run.note(`${this.#name} receives ${event.__typename} ${JSON.stringify(live)}`);
    if (event.cursor !== live.cursor) this.#fail(`it received an event with two cursors: ${JSON.stringify(event)}`);
    const { roomId } = position;
    const before = positions.get(roomId);
    if (this.#follows.kind === 'inbox') this.#receiveCursors(event.__typename, roomId, live);
    // They have the position of the event before, and are not in the log.
    if (event.__typename === 'RoomDeleted') return this.#receiveDeletion(position, live);
    if (event.__typename === 'RoomRead') {
      if (!before) this.#checkEntering(position, this.#run.model.next(position));
      else if (before.seq !== position.seq || before.mark !== position.mark)
        this.#fail(`it is at ${before.seq} of room ${roomId}, and received RoomRead at ${position.seq}`);
      positions.set(roomId, position);
      return;
    }
    const committed = this.#checkNext(before, position, event.__typename, live.gap === true);
    if (!committed) return;
    this.#receivedAt.set(roomId, this.#now);
    const isEnd = this.#follows.kind === 'inbox' && this.#isOwnEnd(committed);
    if (live.gap && !isEnd) this.#fail(`it received ${JSON.stringify(event)} with ${JSON.stringify(live)}`);
    if (isEnd && live.cursors === undefined) this.#fail(`it received its MemberLeft without the cursor of its user`);
    if (isEnd !== (live.ended === true))
      this.#fail(`it received ${JSON.stringify(event)} with ${JSON.stringify(live)}`);
    if (!isEnd) return void positions.set(roomId, position);
    positions.delete(roomId);
    this.#ends.set(roomId, position);
  }

  /** The cursors that a message of an inbox has in addition. */
  #receiveCursors(type: string, room: string, { cursors = {} }: LiveExtension): void {
    const { model } = this.#run;
    for (const [topic, cursor] of Object.entries(cursors)) {
      const position = toPosition(cursor);
      const known = this.positions?.get(topic);
      if (topic === this.#userId) this.#receiveUserCursor(type, room, position, cursors);
      else if (!known) {
        this.#checkEntering(position, model.next(position));
        this.positions?.set(topic, position);
      } else if (known.seq !== position.seq || known.mark !== position.mark)
        this.#fail(`it is at ${known.seq} of room ${topic}, and received the cursor of ${position.seq}`);
    }
    if (type === 'RoomRead' && cursors[this.#userId] === undefined)
      this.#fail('it received RoomRead without the cursor of its user');
  }

  #receiveUserCursor(type: string, room: string, position: RoomPosition, cursors: Record<string, string>): void {
    const { model } = this.#run;
    const before = this.#userPosition;
    if (this.#isEarlier) return;
    this.#userPosition = position;
    if (!before || this.#isRewoundSince) return;
    const passed = model.userEventsAfter(this.#userId, before.seq).filter(({ seq }) => seq <= position.seq);
    const event = passed.pop();
    const isOfEvent = event?.seq === position.seq && event.mark === position.mark && event.roomId === room;
    if (!isOfEvent || (event.type !== type && type !== 'RoomDeleted'))
      this.#fail(`it received ${type} of ${room} with the cursor ${position.seq} of its user, which is ${event?.type}`);
    this.#checkReads(before.seq, position.seq, 0);
    const isUnknown = ({ type: passedType, roomId, seq }: UserEvent) =>
      passedType === 'MemberJoined' &&
      ![room, ...(this.positions?.keys() ?? []), ...Object.keys(cursors)].includes(roomId) &&
      !model.ended.has(roomId) &&
      passed.every((later) => later.roomId !== roomId || later.seq <= seq || later.type === 'RoomRead');
    const unknown = passed.find(isUnknown);
    if (unknown) this.#fail(`it received event ${position.seq} of its user, without a cursor of ${unknown.roomId}`);
    const end = passed.find(
      (each) =>
        each.roomId !== room &&
        (each.type === 'MemberLeft' || each.type === 'RoomDeleted') &&
        (this.positions?.get(each.roomId)?.seq ?? Number.POSITIVE_INFINITY) <= each.roomSeq,
    );
    if (end) this.#fail(`it received event ${position.seq} of its user, and not the end of ${end.roomId} before`);
  }

  #receiveDeletion({ roomId }: RoomPosition, { ended }: LiveExtension): void {
    const { model } = this.#run;
    if (!ended) this.#fail(`it received RoomDeleted of room ${roomId} without \`ended\``);
    const end = this.#ends.get(roomId);
    const hasEnded = end?.seq === Number.POSITIVE_INFINITY && !this.positions?.has(roomId);
    if (hasEnded && !this.#isRestored(roomId) && !this.#isRewoundSince)
      this.#fail(`it received RoomDeleted of room ${roomId} twice`);
    if (!model.ended.has(roomId) && !this.#isRestored(roomId))
      this.#fail(`it received RoomDeleted of room ${roomId}, which exists`);
    this.positions?.delete(roomId);
    this.#ends.set(roomId, { roomId, seq: Number.POSITIVE_INFINITY, mark: 0 });
  }

  #checkNext(
    before: RoomPosition | undefined,
    position: RoomPosition,
    type: string,
    hasGap: boolean,
  ): Committed | undefined {
    const { model } = this.#run;
    const { roomId, seq, mark } = position;
    const event = model.committed.get(`${roomId} ${seq} ${mark}`);
    if (!event) {
      // The commit with which the room was deleted may have had it, too: nobody can have read it.
      if (model.ended.has(roomId) && seq === (before?.seq ?? seq - 1) + 1) this.positions?.set(roomId, position);
      else this.#fail(`it received event ${seq} of room ${roomId}, which was never committed`);
      return undefined;
    }
    const expected = this.#shownType(event);
    if (type !== expected) this.#fail(`it received event ${seq} of room ${roomId} as ${type} instead of ${expected}`);
    this.#run.note(`${this.#name} receives ${type} ${seq} of ${roomId}${hasGap ? ' with a gap' : ''}`);
    if (before) {
      // docs/resume.md: of a room that the user has lost and that is private, events may be left out before the MemberLeft.
      const isPrivate = event.audience !== undefined || model.rooms.get(roomId)?.isPrivate;
      const mayLeaveOut = hasGap && this.#isOwnEnd(event) && isPrivate && seq > before.seq;
      const isNext = !hasGap && model.follows(event, before, typesOf(this.#follows));
      const history = seq === before.seq + 1 ? ' of another history' : '';
      if (!isNext && !mayLeaveOut)
        this.#fail(`after event ${before.seq} of room ${roomId} it received ${seq}${history}`);
    } else if (this.#follows.kind === 'inbox' && !model.isGone(position) && !hasGap) {
      // An event of a lost history is followed by CURSOR_EXPIRED.
      this.#checkEntering({ roomId, seq: seq - 1, mark: event.previousMark }, event);
    }
    return event;
  }

  /** A room enters an inbox with the MemberJoined of its user, or with the oldest event of the log. */
  #checkEntering({ roomId, seq }: RoomPosition, next: Committed | undefined): void {
    const { model } = this.#run;
    const isJoin = next?.type === 'MemberJoined' && next.subjectId === this.#userId;
    const isOldest = model.isTrimmed(roomId, seq - 1) || model.isFirst(roomId, seq + 1);
    if (!isJoin && !(isOldest && model.isJoinTrimmed(this.#userId, roomId)) && !this.#isRewoundSince)
      this.#fail(`room ${roomId} enters its inbox with ${next?.type} ${seq + 1}, not with the user's MemberJoined`);
    const end = this.#ends.get(roomId);
    const isSkipped = (event: { type: string; roomId: string; roomSeq: number }) =>
      event.type === 'MemberJoined' &&
      event.roomId === roomId &&
      event.roomSeq < seq &&
      event.roomSeq >= (end?.seq ?? seq);
    if (
      isJoin &&
      this.#userPosition &&
      !this.#isRewoundSince &&
      model.userEventsAfter(this.#userId, this.#since ?? 0).some(isSkipped)
    )
      this.#fail(`room ${roomId} enters its inbox after ${seq}, and an earlier membership was left out`);
    if (end && seq < end.seq && !model.isGone(end) && !this.#isRestored(roomId))
      this.#fail(`room ${roomId} ended in its inbox with event ${end.seq}, and enters it with ${seq + 1}`);
  }

  #checkEnd(code: string, live: LiveExtension | undefined): void {
    this.#run.note(`${this.#name} is ended with ${code} ${JSON.stringify(live ?? '')}`);
    const reason = this.#findReason(code, live?.room);
    if (reason !== undefined) return this.#fail(`it was ended with ${code}, although ${reason}`);
    if (code !== 'CURSOR_EXPIRED' && code !== 'SLOW_CONSUMER') return;
    const cursors = live?.cursors ?? live?.cursor;
    if (cursors === undefined) return this.#fail(`${code} has no cursor`);
    const own = typeof cursors === 'object' ? cursors[this.#userId] : undefined;
    this.#checkComplete(this.#toPositions(cursors), own, `it was ended with ${code}`);
  }

  /** Why a stream may not be ended with a code; undefined if it may. */
  #findReason(code: string, room: string | undefined): string | undefined {
    const { model } = this.#run;
    const follows = this.#follows;
    const positions = [...(this.positions?.values() ?? [])].filter(({ roomId }) => roomId === (room ?? roomId));
    const isOpen = this.#openedAt !== undefined;
    if (code === 'CURSOR_INVALID' && this.#foreign) return undefined;
    switch (code) {
      case 'CURSOR_EXPIRED': {
        const isUserGone = this.#userPosition !== undefined && model.isUserEventGone(this.#userPosition);
        const isGone = isUserGone || positions.some((each) => model.isGone(each));
        const isExpired = isGone || positions.some(({ roomId, seq }) => model.isTrimmed(roomId, seq));
        // A node that had no client in the room may notice a rewind when it has one.
        const mayNotice = this.#isRewound(Number.MAX_VALUE) && this.#now - (this.#openedAt ?? 0) < noticeMs;
        // The log of a deleted user is gone.
        const isDeleted = follows.kind === 'inbox' && model.deleted.has(this.#userId);
        // A room that has begun or ended since is opened later.
        const changed = model.userEventsAfter(this.#userId, this.#userStart);
        const isLate = changed.some(
          ({ roomId, roomSeq }) => roomId === room && (isExpired || model.isTrimmed(roomId, roomSeq)),
        );
        return (isOpen ? isGone || mayNotice || isLate : isExpired) || this.#isRewoundSince || isDeleted
          ? undefined
          : 'the log has its position';
      }
      case 'SLOW_CONSUMER': {
        if (!isOpen) return 'it was not open';
        if (room !== undefined && model.ended.has(room) && !this.#isRestored(room)) return 'its room was deleted';
        const isBehind = positions.some(
          ({ roomId, seq }) => model.isTrimmed(roomId, seq) || !model.maySee(this.#userId, roomId),
        );
        // The client may not have been told yet that it has the room.
        const isNew = room !== undefined && !this.positions?.has(room) && model.isJoinTrimmed(this.#userId, room);
        return isBehind || isNew || this.#isRewoundSince ? undefined : 'the log has its position';
      }
      case 'CURSOR_INVALID': {
        // A rewind may lose a membership, so that the room of a cursor was never one of the user's. A deleted user has no rooms.
        const isLost = model.rewinds > 0 && positions.some(({ roomId }) => !model.isMember(this.#userId, roomId));
        const isDeleted = model.deleted.has(this.#userId);
        return follows.kind === 'inbox' && (isLost || isDeleted || this.#isRewoundSince) ? undefined : 'they are valid';
      }
      case 'UNAUTHENTICATED': {
        const isEnded = this.#sinceSessionEnded !== undefined || model.deleted.has(this.#userId);
        return isEnded || this.#isRewoundSince ? undefined : 'its session is valid';
      }
      case 'ROOM_DELETED': {
        if (follows.kind === 'inbox') return 'it is an inbox';
        return model.ended.has(follows.roomId) || this.#isRestored(follows.roomId) ? undefined : 'its room exists';
      }
      case 'NOT_FOUND':
      case 'MEMBERSHIP_REVOKED': {
        if (follows.kind === 'inbox') return 'it is an inbox';
        if (isOpen !== (code === 'MEMBERSHIP_REVOKED')) return isOpen ? 'it was open' : 'it was not open';
        // A node whose reads stall may act on an old answer.
        const openMs = this.#mayBeLate ? Number.POSITIVE_INFINITY : noticeMs;
        const mayBeHidden = model.wasHidden(this.#userId, follows.roomId, isOpen ? openMs : this.#sinceConnect);
        return mayBeHidden || this.#isRewoundSince ? undefined : 'the user may see the room';
      }
      default:
        return 'there is no reason for it';
    }
  }

  #receiveEnd(code: string, live: LiveExtension | undefined): void {
    if (this.#foreign && code === 'CURSOR_INVALID') {
      this.#foreign = undefined;
      return;
    }
    this.#foreign = undefined;
    const cursors = live?.cursors ?? live?.cursor;
    if (code === 'UNAUTHENTICATED') return;
    this.#since = undefined;
    if (code === 'CURSOR_EXPIRED' || code === 'SLOW_CONSUMER' || code === 'CURSOR_INVALID') this.notices += 1;
    this.positions = cursors === undefined ? undefined : this.#toPositions(cursors);
    const own = typeof cursors === 'object' ? cursors[this.#userId] : undefined;
    this.#userPosition = own === undefined || this.#isEarlier ? undefined : toPosition(own);
  }

  /** The positions in rooms. */
  #toPositions(cursors: NonNullable<Stream['cursor']>): Map<string, RoomPosition> {
    const texts = typeof cursors === 'string' ? [cursors] : Object.values(cursors);
    const positions = texts.map(toPosition).map((position) => [position.roomId, position] as const);
    return new Map(positions.filter(([topic]) => topic !== this.#userId));
  }

  #fail(message: string): void {
    this.#run.fail(`${this.#name} of ${this.#userId} (${this.#follows.kind}): ${message}`);
  }
}

/** The types of the events that a client has subscribed to; undefined for all. */
export function typesOf({ kind }: Subscribed): readonly string[] | undefined {
  return kind === 'tasks' ? ['TaskAdded', 'TaskMoved'] : undefined;
}

/** @throws an Error for a text that is no cursor. */
function toPosition(cursor: string): RoomPosition {
  const position = decodeCursor(cursor);
  if (!position) throw new Error(`The server sent ${cursor}, which is not a cursor.`);
  return position;
}
