import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { commonTopic, nodesTopic } from '../src/live/bus/bus.ts';
import { BusServer } from './bus-server.ts';
import { Client } from './client.ts';
import { Disk } from './disk.ts';
import { type Fault, Faults } from './faults.ts';
import { Model } from './model.ts';
import { Node, type NodeParts, type Types } from './node.ts';
import { Random } from './random.ts';
import type { RunContext } from './run-context.ts';
import { Scheduler, world } from './scheduler.ts';
import { type Subscribed, typesOf } from './stream-check.ts';
import { Writer } from './writer.ts';

const firstNode = 'node 1';
const setupMs = 3_000;
const minActiveMs = 1_500;
const maxActiveMs = 45_000;
/** Short runs find most defects sooner; some need a long history. */
const longShare = 0.2;
const longMs = 8_000;
/** After the last fault every event must have arrived within this time. */
const healMs = 15_000;
/** The lease of a report of presence: a node that has lost the last one shows its viewers until then. */
const leaseMs = 31_000;
const closeMs = 10_000;

export interface RunOptions {
  seed: number;
  /** The faults and changes end after this number of steps. */
  maxSteps: number;
  only: readonly Fault[];
}

/** What does not differ between runs. */
export interface Shared {
  types: Readonly<Record<'own' | 'extended', Types>>;
  /** A database with users, and no rooms. */
  template: string;
  users: readonly string[];
}

export interface Outcome {
  /** Undefined if the promise was kept. */
  defect: string | undefined;
  /** The steps until the faults ended, or until the defect. */
  steps: number;
  delivered: number;
  notices: number;
  faults: Readonly<Record<Fault, number>>;
  /** What happened before the defect. */
  story: readonly string[];
}

const maxNotes = 3_000;
/** How long an event may take if the message about it was lost: the nodes compare the heads of rooms every 1.5 s. */
const maxArrivalMs = 5_000;
const safeArrivalMs = 400;
const maxAccessMs = 2_000;
const meetingMs = 20;
/** How long some slow reads in a row may take. */
const slowReadsMs = 1_000;
/** The faults after which messages about changes are lost or late. */
const faultsOfMessages = [
  'busLoses',
  'busDelays',
  'busDown',
  'commitUnknown',
  'flushStalls',
  'nodeKilled',
  'powerLost',
  'rewind',
] as const satisfies Fault[];

/** The faults after which a change is refused, or its outcome is not known. */
const faultsOfDatabase = [
  'readFails',
  'readStalls',
  'commitFails',
  'commitUnknown',
  'writeFails',
  'flushStalls',
] as const satisfies Fault[];

function isBusy(error: unknown): boolean {
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) : 0;
  // The lower byte of an extended code is the code: https://sqlite.org/rescode.html
  return (code & 0xff) === 5;
}

/** A connection that does not copy the write-ahead log into the database. */
function openAdmin(path: string): DatabaseSync {
  const admin = new DatabaseSync(path);
  admin.exec('pragma wal_autocheckpoint = 0');
  return admin;
}

/** One run: nodes, a bus, a database, writers and clients on virtual time, and the model that they are compared with. */
export class World implements RunContext {
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly model: Model;
  readonly users: readonly string[];
  readonly refused = new Set<string>();
  readonly acknowledged = new Map<string, { userId: string; roomId: string }>();
  /** So few that clients are often behind the log of a room. */
  readonly keptEvents: number;
  readonly hasExtensions: boolean;
  areFaultsOver = false;
  delivered = 0;
  /** Half of all runs have the extensions, on all nodes or on some. */
  readonly #ofExtensions: Random;
  readonly #areNodesAlike: boolean;
  readonly #options: RunOptions;
  readonly #shared: Shared;
  readonly #server: BusServer;
  readonly #folder = mkdtempSync(join(tmpdir(), 'postroom-simulation-'));
  readonly #disk = new Disk(join(this.#folder, 'postroom.db'));
  #admin: DatabaseSync;
  /** By name. */
  readonly #nodes = new Map<string, Node | 'starting' | 'down'>();
  readonly #clients: Client[] = [];
  readonly #notes: string[] = [];
  #defect: string | undefined;
  #isUnreadChecked = false;
  #copies = 0;

  constructor(options: RunOptions, shared: Shared) {
    this.#options = options;
    this.#shared = shared;
    this.users = shared.users;
    copyFileSync(shared.template, this.#disk.path);
    this.scheduler = new Scheduler(options.seed);
    this.faults = new Faults(this.scheduler, options.seed, options.only);
    this.#server = new BusServer(this.scheduler, this.faults);
    this.keptEvents = this.scheduler.random.pick([12, 40, 150]);
    this.#ofExtensions = Random.of(`${options.seed} extensions`);
    this.hasExtensions = this.#ofExtensions.chance(0.5);
    this.#areNodesAlike = this.#ofExtensions.chance(0.5);
    this.#admin = openAdmin(this.#disk.path);
    this.model = new Model({
      path: this.#disk.path,
      keptEvents: this.keptEvents,
      hasExtensions: this.hasExtensions,
      now: () => this.scheduler.now,
      note: (text) => this.note(text),
      onDefect: (message) => this.fail(message),
    });
  }

  /** Runs it once. */
  async run(): Promise<Outcome> {
    const restore = this.scheduler.install();
    const onRejection = (error: unknown) =>
      this.fail(`a rejection was not handled: ${error instanceof Error ? error.stack : String(error)}`);
    process.on('unhandledRejection', onRejection);
    try {
      await this.#run().catch((error) => this.fail(String(error)));
      // The turn of the event loop belongs to the process: the next run must not begin within one.
      await this.scheduler.runUntil(this.scheduler.now, () => false).catch(() => {});
      return {
        defect: this.#defect,
        steps: this.scheduler.steps,
        delivered: this.delivered,
        notices: this.#clients.reduce((sum, { check }) => sum + check.notices, 0),
        faults: this.faults.counts,
        story: this.#notes,
      };
    } finally {
      process.off('unhandledRejection', onRejection);
      restore();
      this.model.close();
      this.#admin.close();
      rmSync(this.#folder, { recursive: true, force: true });
    }
  }

  pickNode(needsExtensions = false): Node | undefined {
    const running = this.#running().filter(({ hasExtensions }) => hasExtensions || !needsExtensions);
    return running.length === 0 ? undefined : this.scheduler.random.pick(running);
  }

  meetChange(userId: string): void {
    const clients = this.#clients.filter((client) => client.userId === userId);
    if (clients.length === 0 || !this.faults.happens('clientMeetsChange')) return;
    const client = this.scheduler.random.pick(clients);
    this.note(`fault: clientMeetsChange of ${client.name}`);
    client.cut();
    client.connectSoon(this.scheduler.random.between(0, meetingMs));
  }

  get arrivalMs(): number {
    const isSafe = faultsOfMessages.every((fault) => this.faults.counts[fault] === 0);
    return isSafe ? safeArrivalMs + this.#slowReadsMs : maxArrivalMs;
  }

  get accessMs(): number {
    return maxAccessMs + this.#slowReadsMs;
  }

  get #slowReadsMs(): number {
    return this.faults.counts.readIsSlow > 0 ? slowReadsMs : 0;
  }

  get canDatabaseFail(): boolean {
    return faultsOfDatabase.some((fault) => this.faults.counts[fault] > 0);
  }

  mayBeLate(node: string): boolean {
    return this.faults.disturbedFor(node) > 0;
  }

  note(text: string): void {
    this.#notes.push(`${(this.scheduler.now / 1_000).toFixed(3)} s, step ${this.scheduler.steps}: ${text}`);
    if (this.#notes.length > maxNotes) this.#notes.shift();
  }

  fail(message: string): void {
    this.#defect ??= message;
  }

  async #run(): Promise<void> {
    const { scheduler, faults } = this;
    const { random } = scheduler;
    const isOver = () => this.#defect !== undefined;
    const count = random.whole(1, 4);
    for (let index = 0; index < count; index += 1) this.#start(`node ${index + 1}`);
    scheduler.after(100, () => this.#setUp());
    await scheduler.runUntil(setupMs, isOver);
    const activeMs = random.chance(longShare)
      ? random.between(longMs, maxActiveMs)
      : random.between(minActiveMs, longMs);
    faults.isActive = true;
    this.#startFaults();
    for (const userId of this.users) new Writer(this, userId).start();
    this.#checkProgress();
    await scheduler.runUntil(setupMs + activeMs, () => isOver() || scheduler.steps >= this.#options.maxSteps);
    this.areFaultsOver = true;
    faults.isActive = false;
    this.#heal();
    const healed = scheduler.now + healMs + faults.disturbedFor();
    await scheduler.runUntil(healed, isOver);
    if (isOver()) return;
    this.#checkClients();
    scheduler.after(0, () => this.#checkStored());
    await scheduler.runUntil(scheduler.now + leaseMs - healMs, isOver);
    if (isOver()) return;
    for (const client of this.#clients) this.#checkPresence(client);
    await this.#checkEnd(isOver);
  }

  #running(): Node[] {
    return [...this.#nodes.values()].filter((node) => node instanceof Node);
  }

  /** The first node always has the extensions, and another one with the next start, or no longer. */
  #typesOf(name: string): Types {
    const { own, extended } = this.#shared.types;
    if (!this.hasExtensions) return own;
    return this.#areNodesAlike || name === firstNode || this.#ofExtensions.chance(0.5) ? extended : own;
  }

  #partsOf(name: string): NodeParts {
    const { scheduler, faults } = this;
    return {
      name,
      disk: this.#disk,
      keptEvents: this.keptEvents,
      types: this.#typesOf(name),
      scheduler,
      faults,
      server: this.#server,
      onCommit: () => this.model.update(),
      onDefect: (message) => this.fail(message),
    };
  }

  #start(name: string): void {
    this.#nodes.set(name, 'starting');
    const start = async () => {
      const node = await Node.start(this.#partsOf(name));
      this.#nodes.set(name, node);
      this.note(`${name} runs${node.hasExtensions ? ' with extensions' : ''}`);
    };
    this.scheduler.after(1, () => void start(), name);
  }

  /** Rooms, members and clients, before the first fault. */
  #setUp(): void {
    const { scheduler, users } = this;
    const { random } = scheduler;
    const node = this.pickNode();
    if (!node) return this.fail('no node has started');
    const create = async () => {
      for (const [index, userId] of users.slice(0, 3).entries()) {
        const writer = new Writer(this, userId);
        const visibility = index === 2 ? 'PRIVATE' : 'PUBLIC';
        const answer = await writer.change(node, 'createRoom', { name: `room ${index}`, visibility });
        const { data } = answer.body as { data?: { createRoom: { room: { id: string } } | null } };
        const room = data?.createRoom?.room.id;
        for (const user of users) {
          if (user === userId || random.chance(0.4)) continue;
          if (visibility === 'PRIVATE') await writer.change(node, 'addRoomMember', { room, user });
          else await new Writer(this, user).change(node, 'joinRoom', { room });
        }
      }
      scheduler.after(1, () => this.#addClients(), world);
    };
    scheduler.after(1, () => void create().catch((error) => this.fail(String(error))), node.name);
  }

  #addClients(): void {
    const { random } = this.scheduler;
    const rooms = [...this.model.rooms.keys()];
    const count = random.whole(3, 9);
    for (let index = 0; index < count && rooms.length > 0; index += 1) {
      const roomId = random.pick(rooms);
      const follows: Subscribed = random.pick<Subscribed>([
        { kind: 'room', roomId, isPersonal: false },
        { kind: 'room', roomId, isPersonal: true },
        { kind: 'inbox' },
        { kind: 'inbox' },
        { kind: 'presence', roomId },
        ...(this.hasExtensions ? [{ kind: 'tasks', roomId } as const] : []),
      ]);
      const client = new Client(this, `client ${index + 1}`, random.pick(this.users), follows);
      this.#clients.push(client);
      client.connectSoon();
      const reconnect = (prepare = () => {}) => {
        client.cut();
        prepare();
        client.connectSoon();
      };
      const { name, check } = client;
      this.#repeat('clientCuts', name, reconnect);
      this.#repeat('clientOldCursor', name, () => reconnect(() => check.goBack()));
      this.#repeat('clientPartialCursors', name, () => reconnect(() => check.forgetSome()));
      this.#repeat('clientForeignCursor', name, () => reconnect(() => check.takeForeignCursor()));
      this.#repeat('clientLeaves', name, () => {
        client.awayUntil = this.scheduler.now + random.between(1_000, 20_000);
        reconnect();
      });
      this.#repeat('clientPauses', name, () => {
        client.pausedUntil = Math.max(client.pausedUntil, this.scheduler.now + random.between(500, 10_000));
      });
    }
  }

  #repeat(fault: Fault, who: string, happen: () => void): void {
    const next = this.faults.next(fault);
    if (next === undefined) return;
    const run = () => {
      if (!this.faults.begin(fault)) return;
      this.note(`fault: ${fault} of ${who}`);
      happen();
      this.#repeat(fault, who, happen);
    };
    this.scheduler.after(setupMs + next - Math.min(setupMs, this.scheduler.now), run, world);
  }

  #startFaults(): void {
    const { scheduler } = this;
    const { random } = scheduler;
    this.#repeat('busDown', world, () => {
      this.#server.stop();
      scheduler.after(random.between(500, 8_000), () => this.#server.start(), world);
    });
    this.#repeat('nodeKilled', world, () => this.#kill(random.pick([...this.#nodes.keys()])));
    this.#repeat('powerLost', world, () => this.#losePower());
    this.#repeat('rewind', world, () => this.#rewindLater());
    this.#repeat('trim', world, () => {
      const node = this.pickNode();
      if (node) scheduler.after(1, () => node.trimming.start(), node.name);
    });
    this.#repeat('clockJumps', world, () => {
      scheduler.clockOffsets.set(random.pick([...this.#nodes.keys()]), random.between(-2_000, 2_000));
    });
    this.#repeat('sessionsEnd', world, () => {
      const node = this.pickNode();
      const userId = random.pick(this.users);
      if (node) scheduler.after(1, () => void node.endSessions(userId).catch(() => {}), node.name);
    });
  }

  #kill(name: string): void {
    const node = this.#nodes.get(name);
    if (node === 'down' || node === undefined) return;
    this.scheduler.kill(name);
    this.#server.forget(name);
    this.#nodes.set(name, 'down');
    this.note(`${name} was killed`);
    if (node !== 'starting') {
      node.kill();
      for (const client of this.#clients) client.lose(node);
    }
    this.scheduler.after(this.scheduler.random.between(100, 5_000), () => this.#start(name), world);
  }

  /** Keeps a copy of the database, and puts it back some time later, under the running nodes. */
  #rewindLater(): void {
    const backup = this.#nextCopy();
    this.#admin.exec(`vacuum into '${backup}'`);
    const { random } = this.scheduler;
    const rewind = () => {
      for (const userId of this.users) this.meetChange(userId);
      this.scheduler.after(random.between(0, 5 * meetingMs), () => this.#rewind(backup), world);
    };
    // After a short time often only the log of a user is lost.
    this.scheduler.after(random.chance(0.5) ? random.between(50, 300) : random.between(200, 5_000), rewind, world);
  }

  #nextCopy(): string {
    this.#copies += 1;
    return join(this.#folder, `copy-${this.#copies}.db`);
  }

  #losePower(): void {
    for (const name of this.#nodes.keys()) this.#kill(name);
    this.#disk.busyUntil = 0;
    this.#disk.losePower(this.#nextCopy());
    this.#admin.close();
    this.#admin = openAdmin(this.#disk.path);
    this.model.rewind(this.#disk.path);
    const { model } = this;
    for (const [id, { userId, roomId }] of this.acknowledged) {
      const isDeleted = model.deletedPosts.has(id) || model.deleted.has(userId) || !model.rooms.has(roomId);
      if (!isDeleted && !model.isStored(id)) this.fail(`${id} was acknowledged, and is lost with the power`);
    }
  }

  #rewind(backup: string): void {
    if (this.areFaultsOver) return;
    const admin = this.#admin;
    admin.exec(`attach '${backup}' as backup`);
    try {
      admin.exec('pragma foreign_keys = off; begin immediate');
      const tables = admin.prepare(
        "select name from backup.sqlite_schema where type = 'table' and name not like 'sqlite_%'",
      );
      for (const { name } of tables.all()) {
        if (String(name).includes('Search')) continue;
        admin.exec(`delete from main."${name}"; insert into main."${name}" select * from backup."${name}"`);
      }
      admin.exec('commit');
    } catch (error) {
      if (admin.isTransaction) admin.exec('rollback');
      if (!isBusy(error)) throw error;
      // A node writes at this moment.
      return void this.scheduler.after(1, () => this.#rewind(backup), world);
    } finally {
      admin.exec('detach backup');
    }
    this.#disk.flush()();
    this.acknowledged.clear();
    this.model.rewind();
    this.note('the database was rewound');
  }

  #heal(): void {
    this.note('the faults are over');
    this.#server.start();
    this.scheduler.clockOffsets.clear();
    for (const client of this.#clients) {
      client.awayUntil = 0;
      client.connectSoon();
    }
  }

  /** From time to time: what happened some seconds ago has arrived. */
  #checkProgress(): void {
    for (const client of this.#clients) {
      if (!client.isLiveFor(this.arrivalMs)) continue;
      client.check.checkArrivals(client.liveMs);
      const { busLoses, busDown, nodeKilled, powerLost } = this.faults.counts;
      if (busLoses + busDown + nodeKilled + powerLost === 0) this.#checkPresent(client);
    }
    this.scheduler.after(this.arrivalMs / 4, () => this.#checkProgress(), world);
  }

  /** Everybody who has been connected for some time is shown as present. */
  #checkPresent({ name, check, follows, isDisturbed }: Client): void {
    if (follows.kind !== 'presence' || isDisturbed) return;
    const { roomId } = follows;
    const missing = this.#viewersOf(roomId).find((other) => {
      const { userId } = other;
      const isViewer = !this.model.deleted.has(userId) && !this.model.wasHidden(userId, roomId, maxArrivalMs);
      return isViewer && other.isLiveFor(maxArrivalMs) && !other.isDisturbed && !check.present?.includes(userId);
    });
    if (missing) this.fail(`${name} does not show ${missing.userId} as present in room ${follows.roomId}`);
  }

  #viewersOf(roomId: string): Client[] {
    return this.#clients.filter(
      ({ isLive, follows }) => isLive && follows.kind === 'presence' && follows.roomId === roomId,
    );
  }

  /** Every client has received all that it may see. */
  #checkClients(): void {
    for (const client of this.#clients) {
      if (client.isStopped || this.model.deleted.has(client.userId)) continue;
      const { follows, userId, name } = client;
      const who = `${name} of ${userId} (${follows.kind})`;
      if (client.isReplaying) this.fail(`${who}: it was not told that it has received all events of the past`);
      if (follows.kind === 'inbox') {
        if (!client.isLive) this.fail(`${who}: it is not connected`);
        const rooms = this.model.roomsOf(userId);
        // docs/resume.md: a room whose deletion was lost enters an open inbox when its client connects again.
        for (const roomId of rooms) if (!this.model.restored.has(roomId)) this.#checkPosition(who, client, roomId);
        const left = [...(client.check.positions?.keys() ?? [])].find((roomId) => !rooms.includes(roomId));
        if (left !== undefined) this.fail(`${who}: it was not told that room ${left} is no longer one of its rooms`);
      } else if (this.model.maySee(userId, follows.roomId)) {
        if (!client.isLive) this.fail(`${who}: it is not connected, although the user may see room ${follows.roomId}`);
        if (follows.kind === 'room') this.#checkPosition(who, client, follows.roomId);
        const last = this.model.lastOf(follows.roomId, typesOf(follows) ?? []);
        const seq = client.check.positions?.get(follows.roomId)?.seq;
        if (seq !== undefined && seq < last) this.fail(`${who}: it is at ${seq}, and its last event is ${last}`);
      }
    }
  }

  #checkPosition(who: string, client: Client, roomId: string): void {
    const head = this.model.rooms.get(roomId)?.head;
    const position = client.check.positions?.get(roomId);
    if (head && position?.seq !== head.seq)
      this.fail(`${who}: it is at ${position?.seq} of room ${roomId}, and the log ends at ${head.seq}`);
    else if (head && position?.mark !== head.mark) this.fail(`${who}: it is at another history of room ${roomId}`);
  }

  /** All nodes show the same people. */
  #checkPresence({ name, isLive, check, follows }: Client): void {
    if (follows.kind !== 'presence' || !isLive) return;
    const expected = [...new Set(this.#viewersOf(follows.roomId).map(({ userId }) => userId))].sort().join();
    const shown = check.present?.join();
    if (shown !== expected)
      this.fail(`${name} shows ${shown} as present in room ${follows.roomId}, and ${expected} are`);
  }

  /** What is stored, and what the API says about it. */
  #checkStored(): void {
    for (const title of this.refused)
      if (this.model.posts.has(title) || this.model.extensions?.tasks.has(title))
        return this.fail(`"${title}" was refused and is stored`);
    const contradiction = this.model.findContradiction();
    if (contradiction !== undefined) return this.fail(contradiction);
    const node = this.pickNode();
    if (!node) return this.fail('no node runs in the end');
    const check = async () => {
      for (const userId of this.users) {
        if (this.model.deleted.has(userId)) continue;
        for (const room of this.model.roomsOf(userId)) {
          const viewer = await node.authenticate(userId);
          const query = 'query Q($room: ID!) { room(id: $room) { unread } }';
          const { body } = await node.execute(viewer, { query, variables: { room } });
          const { data } = body as { data?: { room: { unread: number } | null } };
          const expected = Math.min(100, this.model.countUnread(userId, room));
          if (data?.room?.unread !== expected)
            this.fail(`${userId} has ${data?.room?.unread} unread posts in room ${room}, and the model ${expected}`);
        }
      }
      this.#isUnreadChecked = true;
    };
    this.scheduler.after(1, () => void check().catch((error) => this.fail(String(error))), node.name);
  }

  /** Nothing is left when the clients have gone and the nodes are closed. */
  async #checkEnd(isOver: () => boolean): Promise<void> {
    if (!this.#isUnreadChecked) this.fail('the numbers of unread posts were not answered');
    for (const client of this.#clients) client.stop();
    // A viewer whose connection was lost remains present for ten seconds.
    await this.scheduler.runUntil(this.scheduler.now + healMs, isOver);
    const running = this.#running();
    for (const node of running) {
      const sizes = { ...node.fanOut.sizes, open: node.fanOut.counts.open.websocket };
      const left = Object.entries(sizes).filter(([, size]) => size !== 0);
      if (left.length > 0)
        this.fail(`${node.name} keeps ${left.map(([what, size]) => `${size} ${what}`).join(', ')} without clients`);
    }
    for (const topic of this.#server.topics())
      if (topic !== nodesTopic && topic !== commonTopic) this.fail(`a node follows ${topic} without clients`);
    for (const node of running) this.scheduler.after(1, () => void node.close(), node.name);
    await this.scheduler.runUntil(this.scheduler.now + closeMs, isOver);
    for (const name of this.#nodes.keys()) {
      const pending = this.scheduler.countPending(name);
      if (pending > 0) this.fail(`${name} still waits for ${pending} timers after it was closed`);
    }
  }
}
