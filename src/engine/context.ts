import type { Database, Db } from '../data/database.ts';
import { headOf, type LogPosition, logStart, type RoomEvent } from '../data/events.ts';
import { createLoaders, type Loaders } from '../data/loaders.ts';
import type { RoomRow, UserRow } from '../data/tables.ts';
import type { VisibleRooms } from '../data/visible-rooms.ts';
import { visibleRoomsOf } from '../identity/access.ts';
import type { Audit } from '../identity/audit.ts';
import type { Sessions } from '../identity/session/session.ts';
import type { SignInLimit } from '../identity/session/sign-in-limit.ts';
import type { Viewer } from '../identity/viewer.ts';
import type { Bus } from '../live/bus/bus.ts';
import { type ChangeRecord, commitChange } from '../live/changes.ts';
import { encodeCursor } from '../live/cursor.ts';
import type { Cancellation } from './cancellation.ts';

/** What every operation may use. */
export interface Services {
  database: Database;
  bus: Bus;
  sessions: Sessions;
  signInLimit: SignInLimit;
  audit: Audit;
}

/** What a resolver has at hand, for one operation. */
export interface Context {
  readonly services: Services;
  /** Who is asking; to ask for it makes a subscription's result personal. */
  readonly viewer: Viewer | null;
  /** Which rooms the viewer sees. */
  readonly visibleRooms: VisibleRooms;
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
  /** The room's live position: not newer than anything else that the operation says of the room. */
  cursorOf(room: RoomRow): string | Promise<string>;
}

export interface ContextOptions {
  address?: string;
  db?: Db;
  /** The database as it was before the operation: there rooms stood where their cursors say, whatever is written since. */
  past?: Db | undefined;
  /** Ends changes that are not committed yet. */
  cancellation?: Cancellation;
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
  readonly #cancellation: Cancellation | undefined;
  #admitted: Map<string, Viewer> | undefined;
  #positions: Map<string, LogPosition> | undefined;
  readonly #past: Loaders | undefined;
  #loaders: Loaders | undefined;
  #written: readonly RoomEvent[] | undefined;

  constructor(
    services: Services,
    viewer: Viewer | null,
    { address = '', db = services.database.db, past, cancellation, readsBodies = true }: ContextOptions = {},
  ) {
    this.services = services;
    this.address = address;
    this.db = db;
    this.readsBodies = readsBodies;
    this.#past = past && createLoaders(past, () => this);
    this.#viewer = viewer;
    this.#cancellation = cancellation;
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
  get visibleRooms(): VisibleRooms {
    return visibleRoomsOf(this.#viewer === null ? null : this.viewer);
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
    const cancellation = this.#cancellation;
    const { result, events } = await commitChange(this.services.database, this.services.bus, work, { cancellation });
    // No timer can run between the commit and here.
    if (cancellation) cancellation.hasCommitted = true;
    // Before the first change nothing was said that it could have made stale.
    this.#written ??= events;
    this.#loaders = undefined;
    return result;
  };

  /** The cursor of the event's room is that of the event; the room's row may be newer. */
  pinPosition(event: RoomEvent): void {
    this.#positions ??= new Map();
    this.#positions.set(event.roomId, event);
  }

  cursorOf(room: RoomRow): string | Promise<string> {
    if (this.#past) return this.#cursorFrom(this.#past, room.id);
    const { seq, mark } = this.#positions?.get(room.id) ?? headOf(room);
    return encodeCursor({ roomId: room.id, seq, mark });
  }

  /** The end of the log before this operation, moved past the events that the operation itself wrote directly after it. */
  async #cursorFrom(past: Loaders, roomId: string): Promise<string> {
    const room = await past.room.load(roomId);
    let { seq, mark } = room ? headOf(room) : logStart;
    for (const event of this.#written ?? []) {
      if (event.roomId === roomId && event.seq === seq + 1 && event.previousMark === mark) ({ seq, mark } = event);
    }
    return encodeCursor({ roomId, seq, mark });
  }
}

/** For an execution whose result many viewers share: it has no viewer in reach. */
export class SharedContext extends OperationContext {
  constructor(services: Services, options: ContextOptions) {
    super(services, null, options);
  }

  override get visibleRooms(): VisibleRooms {
    return visibleRoomsOf(this.viewer);
  }

  override get viewer(): never {
    this.hasAskedForViewer = true;
    throw new Error('A shared execution has no viewer.');
  }
}
