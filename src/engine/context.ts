import type { Database, Db } from '../data/database.ts';
import type { RoomEvent } from '../data/events.ts';
import { createLoaders, type Loaders } from '../data/loaders.ts';
import type { Sight } from '../data/sight.ts';
import type { RoomRow, UserRow } from '../data/tables.ts';
import { sightOf } from '../identity/access.ts';
import type { Audit } from '../identity/audit.ts';
import type { Sessions } from '../identity/session.ts';
import type { SignInLimit } from '../identity/sign-in-limit.ts';
import type { Viewer } from '../identity/viewer.ts';
import type { Bus } from '../live/bus.ts';
import { type ChangeRecord, commitChange } from '../live/changes.ts';
import { encodeCursor } from '../live/cursor.ts';

/** What every operation may use. */
export interface Services {
  database: Database;
  bus: Bus;
  sessions: Sessions;
  signInLimit: SignInLimit;
  audit: Audit;
  /** Which history the database holds. */
  epoch: string;
}

/** What a resolver has at hand, for one operation. */
export interface Context {
  readonly services: Services;
  /** Who is asking; to ask for it makes a subscription's result personal. */
  readonly viewer: Viewer | null;
  /** Which rooms the viewer sees. */
  readonly sight: Sight;
  /** Where the operation came from. */
  readonly address: string;
  readonly db: Db;
  readonly loaders: Loaders;
  /** Whether the operation asks for the body of a post anywhere. */
  readonly readsBodies: boolean;
  /** Who sees what is said of `user`: whoever signed in as them in this operation, else the viewer. */
  observerOf(user: UserRow): Viewer | null;
  /** Someone showed their credentials in this operation: they see their own account as its owner; who acts stays the same. */
  admit(owner: Viewer): void;
  /** One durable transaction, its events published behind the commit. */
  change<T>(work: (db: Db, record: ChangeRecord) => Promise<T>): Promise<T>;
  /** The position behind an event of the room. */
  cursorAt(roomId: string, seq: number): string;
  /** The room's live position: not newer than anything else that the operation says of the room. */
  cursorOf(room: RoomRow): string | Promise<string>;
}

export interface ContextOptions {
  address?: string;
  db?: Db;
  /** The database as it was before the operation: there rooms stood where their cursors say, whatever is written since. */
  past?: Db | undefined;
  readsBodies?: boolean;
}

export class OperationContext implements Context {
  readonly services: Services;
  readonly address: string;
  readonly db: Db;
  readonly readsBodies: boolean;
  /** Whether what comes of it may differ from viewer to viewer. */
  hasAskedForViewer = false;
  readonly #viewer: Viewer | null;
  #admitted: Map<string, Viewer> | undefined;
  #positions: Map<string, number> | undefined;
  readonly #past: Loaders | undefined;
  #loaders: Loaders | undefined;
  #written: readonly RoomEvent[] | undefined;

  constructor(
    services: Services,
    viewer: Viewer | null,
    { address = '', db = services.database.db, past, readsBodies = true }: ContextOptions = {},
  ) {
    this.services = services;
    this.address = address;
    this.db = db;
    this.readsBodies = readsBodies;
    this.#past = past && createLoaders(past, () => this);
    this.#viewer = viewer;
  }

  /** What they hold is as it was before the next change. */
  get loaders(): Loaders {
    this.#loaders ??= createLoaders(this.db, () => this);
    return this.#loaders;
  }

  get viewer(): Viewer | null {
    this.hasAskedForViewer = true;
    return this.#viewer;
  }

  /** What is public is the same for everyone: without credentials it is no question of the viewer. */
  get sight(): Sight {
    return sightOf(this.#viewer === null ? null : this.viewer);
  }

  observerOf({ id }: UserRow): Viewer | null {
    return this.#admitted?.get(id) ?? this.viewer;
  }

  admit(owner: Viewer): void {
    this.#admitted ??= new Map();
    this.#admitted.set(owner.user.id, owner);
  }

  /** Bound, so that resolvers can take it out of the context. */
  readonly change = async <T>(work: (db: Db, record: ChangeRecord) => Promise<T>): Promise<T> => {
    const { result, events } = await commitChange(this.services.database, this.services.bus, work);
    // Before the first change nothing was said that it could have made stale.
    this.#written ??= events;
    this.#loaders = undefined;
    return result;
  };

  /** What this operation says of the room is as of this event; the room's row may be newer. */
  pinPosition(roomId: string, seq: number): void {
    this.#positions ??= new Map();
    this.#positions.set(roomId, seq);
  }

  cursorAt(roomId: string, seq: number): string {
    return encodeCursor({ roomId, epoch: this.services.epoch, seq });
  }

  cursorOf({ id, head }: RoomRow): string | Promise<string> {
    return this.#past ? this.#cursorFrom(this.#past, id) : this.cursorAt(id, this.#positions?.get(id) ?? head);
  }

  /** Where the room stood, and on over what this operation wrote next to it. */
  async #cursorFrom(past: Loaders, roomId: string): Promise<string> {
    let seq = (await past.room.load(roomId))?.head ?? 0;
    for (const event of this.#written ?? []) if (event.roomId === roomId && event.seq === seq + 1) seq += 1;
    return this.cursorAt(roomId, seq);
  }
}

/** For an execution whose result many viewers share: it has no viewer in reach. */
export class SharedContext extends OperationContext {
  constructor(services: Services, options: ContextOptions) {
    super(services, null, options);
  }

  override get sight(): Sight {
    return sightOf(this.viewer);
  }

  override get viewer(): never {
    this.hasAskedForViewer = true;
    throw new Error('A shared execution has no viewer.');
  }
}
