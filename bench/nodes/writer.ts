import { openDatabase } from '../../src/data/database/open-database.ts';
import { createRoomRow } from '../../src/data/domain/rooms.ts';
import { insertUser, toPublicUser } from '../../src/data/domain/users.ts';
import { insertRows } from '../../src/data/sql/list-statements.ts';
import { scopes, type Viewer } from '../../src/identity/viewer.ts';
import type { Bus } from '../../src/live/bus/bus.ts';
import { createMemoryBus } from '../../src/live/bus/memory.ts';
import { Context, type Services } from '../../src/resolvers/context.ts';
import { postMutations } from '../../src/resolvers/post.ts';
import { roomMutations } from '../../src/resolvers/room.ts';

const mutations = { ...postMutations, ...roomMutations };
type Resolve = (parent: object, args: { input: object }, context: Context) => Promise<object>;

export const title = 'A title as people write it';
export const body =
  'A body of some length, as people write them to each other in a room: two lines on a phone, one on a desk.';

/** Inserts a user, and rooms with the ids 1, 2 and so on. */
export async function createWorld(databaseUrl: string, roomCount: number): Promise<Viewer> {
  const database = await openDatabase(databaseUrl);
  try {
    return await database.transaction(async (db) => {
      const rooms = Array.from({ length: roomCount }, (_, index) => createRoomRow({ name: `room ${index + 1}` }));
      await insertRows(
        db,
        'rooms',
        rooms.map((room, index) => ({ ...room, id: String(index + 1) })),
      );
      const account = await insertUser(db, { name: 'Ada' });
      const credential = { kind: 'session', id: 'bench', sessionsFrom: account.sessionsFrom } as const;
      const expiresAt = Number.POSITIVE_INFINITY;
      return { user: toPublicUser(account), chargedId: account.id, credential, scopes: new Set(scopes), expiresAt };
    });
  } finally {
    await database.close();
  }
}

/** The rules and the data layer of one node, without HTTP. */
export class Writer {
  readonly #services: Services;
  readonly #viewer: Viewer;

  private constructor(services: Services, viewer: Viewer) {
    this.#services = services;
    this.#viewer = viewer;
  }

  /** Without a bus, its events reach nobody. */
  static async open(databaseUrl: string, viewer: Viewer, bus: Bus = createMemoryBus()): Promise<Writer> {
    const services = { database: await openDatabase(databaseUrl), bus };
    return new Writer(services as unknown as Services, viewer);
  }

  async close(): Promise<void> {
    await this.#services.bus.close();
    await this.#services.database.close();
  }

  /** Resolves after the commit. */
  // biome-ignore lint/suspicious/noExplicitAny: its shape is the mutation's.
  async change(name: keyof typeof mutations, input: object): Promise<any> {
    const resolve = mutations[name] as unknown as Resolve;
    return resolve({}, { input }, new Context(this.#services, this.#viewer));
  }

  async createPost(room: string): Promise<string> {
    const { post } = await this.change('createPost', { room, title, body });
    return (await post).id;
  }

  /** Posts per second, with a number of posts at a time, in rooms 1 to `rooms`. */
  async measureRate({ seconds, inFlight, rooms }: { seconds: number; inFlight: number; rooms: number }) {
    let count = 0;
    const startedAt = performance.now();
    const write = async () => {
      while (performance.now() - startedAt < seconds * 1_000) {
        count += 1;
        await this.createPost(String((count % rooms) + 1));
      }
    };
    await Promise.all(Array.from({ length: inFlight }, write));
    return (count * 1_000) / (performance.now() - startedAt);
  }
}
