import type { Person, Postroom } from '../server/postroom.ts';
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
  /** The times at which the viewer left it. */
  leftAt: number[];
  deletedAt: number | undefined;
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

  private constructor(options: TrafficOptions) {
    this.#options = options;
  }

  /** Creates the rooms, all joined by the viewer; a third of them is private. */
  static async open(options: Omit<TrafficOptions, 'owners'>): Promise<Traffic> {
    const owners: Person[] = [];
    for (let index = 0; index < ownerCount; index += 1) owners.push(await options.postroom().signUp(`Owner ${index}`));
    const traffic = new Traffic({ ...options, owners });
    while (traffic.rooms.size < options.rooms) await traffic.#join(await traffic.#create());
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

  /** A last post in each room. */
  async finish(): Promise<void> {
    for (const room of this.#open()) await this.#postIn(room);
  }

  isJoined(room: BusyRoom): boolean {
    return this.#joined.has(room);
  }

  #open(): BusyRoom[] {
    return [...this.rooms.values()].filter(({ deletedAt }) => deletedAt === undefined);
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
    const room = { id: createRoom.room.id, owner, isPrivate, titles: [], leftAt: [], deletedAt: undefined };
    this.rooms.set(room.id, room);
    return room;
  }

  async #join(room: BusyRoom): Promise<void> {
    await this.#changeMember(room, 'joinRoom', 'addRoomMember');
    this.#joined.add(room);
  }

  async #leave(room: BusyRoom): Promise<void> {
    this.#joined.delete(room);
    await this.#changeMember(room, 'leaveRoom', 'removeRoomMember');
    room.leftAt.push(Date.now());
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
    room.deletedAt = Date.now();
    // A post that is being created has been answered before.
    while (this.#busy.has(room)) await new Promise(setImmediate);
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
