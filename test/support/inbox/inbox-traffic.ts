import type { Person, Postroom } from '../server/postroom.ts';
import type { Device, MembershipChange } from './inbox-device.ts';
import { change } from './inbox-stream.ts';

const ownerCount = 4;
const writerCount = 8;

/** A room of the proof, and what happened in it. */
export interface BusyRoom {
  id: string;
  owner: Person;
  isPrivate: boolean;
  /** The titles of the posts that were acknowledged, in order. */
  titles: string[];
  /** The most titles that precede the latest MemberJoined of the viewer. */
  titlesBefore: number;
  /** The ends of memberships of the viewer, also by its deletion. */
  ends: MembershipChange[];
  isDeleted: boolean;
}

interface TrafficOptions {
  postroom: () => Postroom;
  viewer: Person;
  owners: readonly Person[];
  rooms: number;
  random: () => number;
}

/** Posts in many rooms, while a viewer joins, leaves and loses rooms. */
export class Traffic {
  readonly rooms = new Map<string, BusyRoom>();
  posts = 0;
  readonly #options: TrafficOptions;
  readonly #joined = new Set<BusyRoom>();
  readonly #busy = new Set<BusyRoom>();
  #devices: readonly Device[] = [];
  /** Changes of which the devices may not have been told. */
  #untold: MembershipChange[] = [];

  private constructor(options: TrafficOptions) {
    this.#options = options;
  }

  /** Creates the rooms, all joined by the viewer; a third of them is private. */
  static async open(options: Omit<TrafficOptions, 'owners'>): Promise<Traffic> {
    const owners: Person[] = [];
    for (let index = 0; index < ownerCount; index += 1) owners.push(await options.postroom().signUp(`Owner ${index}`));
    const traffic = new Traffic({ ...options, owners });
    while (traffic.rooms.size < options.rooms) await traffic.#join(await traffic.#create());
    // There are no devices yet.
    await traffic.untilTold();
    return traffic;
  }

  /** Creates posts until there are this many, and calls `onStep` this many times meanwhile, one call after the other. */
  async post(count: number, steps: number, onStep: (step: number) => Promise<void>): Promise<void> {
    let step = 0;
    let stepping = Promise.resolve();
    const write = async () => {
      while (this.posts < count) {
        if (this.posts * steps >= step * count) {
          const next = step;
          stepping = stepping.then(() => onStep(next));
          step += 1;
          await stepping;
        }
        await this.#post();
      }
    };
    await Promise.all(Array.from({ length: writerCount }, write));
  }

  /** Changes the memberships of the viewer once. */
  async changeMembership(): Promise<void> {
    const { random } = this.#options;
    const kind = random();
    const joined = this.#pick([...this.#joined]);
    const left = this.#pick(this.#open().filter((room) => !this.#joined.has(room)));
    if (kind < 0.4 && joined) await this.#leave(joined);
    else if (kind < 0.7 && left) await this.#join(left);
    else if (kind < 0.85 || !joined) await this.#join(await this.#create());
    else await this.#delete(joined);
  }

  /** From now on these devices show the inbox of the viewer. */
  follow(devices: readonly Device[]): void {
    this.#devices = devices;
  }

  /** Waits until each device has received the event of each change, or has been away meanwhile. */
  async untilTold(): Promise<void> {
    const { viewer } = this.#options;
    for (const change of this.#untold) {
      for (const device of this.#devices) await device.untilTold(change, viewer);
      change.until = Date.now();
    }
    this.#untold = [];
  }

  /** A last post in each room. */
  async finish(): Promise<void> {
    for (const room of this.#open()) await this.#postIn(room);
  }

  isJoined(room: BusyRoom): boolean {
    return this.#joined.has(room);
  }

  #open(): BusyRoom[] {
    return [...this.rooms.values()].filter(({ isDeleted }) => !isDeleted);
  }

  #pick<T>(from: readonly T[]): T | undefined {
    return from[Math.floor(this.#options.random() * from.length)];
  }

  async #create(): Promise<BusyRoom> {
    const { postroom, owners, random } = this.#options;
    const owner = this.#pick(owners) as Person;
    const isPrivate = random() < 1 / 3;
    const { createRoom } = await postroom().ask(
      'mutation ($input: CreateRoomInput!) { createRoom(input: $input) { room { id } } }',
      { input: { name: `room ${this.rooms.size}`, visibility: isPrivate ? 'PRIVATE' : 'PUBLIC' } },
      owner.token,
    );
    const { id } = createRoom.room;
    const room: BusyRoom = { id, owner, isPrivate, titles: [], titlesBefore: 0, ends: [], isDeleted: false };
    this.rooms.set(room.id, room);
    return room;
  }

  async #join(room: BusyRoom): Promise<void> {
    this.#begin(room, 'MemberJoined');
    await this.#changeMember(room, 'joinRoom', 'addRoomMember');
    // A post that is being created may have been written before.
    room.titlesBefore = room.titles.length + (this.#busy.has(room) ? 1 : 0);
    this.#joined.add(room);
  }

  async #leave(room: BusyRoom): Promise<void> {
    this.#joined.delete(room);
    this.#begin(room, 'MemberLeft');
    await this.#changeMember(room, 'leaveRoom', 'removeRoomMember');
  }

  #begin(room: BusyRoom, event: MembershipChange['event']): void {
    const begun = { roomId: room.id, event, from: Date.now(), until: Number.POSITIVE_INFINITY };
    this.#untold.push(begun);
    if (event !== 'MemberJoined') room.ends.push(begun);
  }

  async #changeMember(
    { id, owner, isPrivate }: BusyRoom,
    byViewer: 'joinRoom' | 'leaveRoom',
    byOwner: string,
  ): Promise<void> {
    const { postroom, viewer } = this.#options;
    if (!isPrivate) return change(postroom(), byViewer, viewer, id);
    const input = `{ room: "${id}", user: "${viewer.id}" }`;
    await postroom().ask(`mutation { ${byOwner}(input: ${input}) { room { id } } }`, {}, owner.token);
  }

  async #delete(room: BusyRoom): Promise<void> {
    this.#joined.delete(room);
    this.#begin(room, 'RoomDeleted');
    room.isDeleted = true;
    // A post that is being created has been answered before.
    while (this.#busy.has(room)) await new Promise(setImmediate);
    // A replay contains no events of a room that is deleted meanwhile.
    const last = room.titles.length > room.titlesBefore ? room.titles.at(-1) : undefined;
    if (last !== undefined) for (const device of this.#devices) await device.untilReplayed(room.id, last);
    await change(this.#options.postroom(), 'deleteRoom', room.owner, room.id);
  }

  async #post(): Promise<void> {
    const room = this.#pick(this.#open());
    if (room && !this.#busy.has(room)) await this.#postIn(room);
  }

  async #postIn(room: BusyRoom): Promise<void> {
    this.#busy.add(room);
    this.posts += 1;
    const title = `post ${this.posts}`;
    await this.#options.postroom().createPost(room.owner, room.id, title);
    room.titles.push(title);
    this.#busy.delete(room);
  }
}
