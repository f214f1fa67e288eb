import type { Db, ReadContext } from '../data/database.ts';
import { headOf, type LogPosition, logStart, type RoomEvent, type StreamEvent } from '../data/events.ts';
import { createLoaders, type Loaders } from '../data/loaders.ts';
import type { PublicUser, RoomRow } from '../data/tables.ts';
import type { VisibleRooms } from '../data/visible-rooms.ts';
import { visibleRoomsOf } from '../identity/access.ts';
import type { Viewer } from '../identity/viewer.ts';
import { type ChangeRecord, commitChange } from '../live/changes.ts';
import { encodeCursor } from '../live/cursor.ts';
import type { Context, Services, SharedCommit } from '../resolvers/context.ts';
import type { Cancellation } from './cancellation.ts';

export interface ContextOptions {
  address?: string;
  /** The database, or a snapshot of it; by default the reads of `readContext`. */
  db?: Db;
  /** For whom the operation reads; by default for the server itself. */
  readContext?: ReadContext;
  /**
   * The database as it was before the operation. The cursors of rooms are read from it, whatever is written afterwards.
   */
  dbBefore?: Db | undefined;
  /** Cancels changes that are not committed yet. */
  cancellation?: Cancellation;
  readsBodies?: boolean;
}

export class OperationContext implements Context {
  readonly services: Services;
  readonly address: string;
  readonly readsBodies: boolean;
  /** Whether the result may differ between viewers. */
  hasReadViewer = false;
  idempotency: Context['idempotency'];
  #viewer: Viewer | null;
  readonly #readContext: ReadContext | undefined;
  #db: Db | undefined;
  readonly #cancellation: Cancellation | undefined;
  #signedIn: Map<string, Viewer> | undefined;
  #positions: Map<string, LogPosition> | undefined;
  readonly #loadersBefore: Loaders | undefined;
  #loaders: Loaders | undefined;
  #ownEvents: readonly RoomEvent[] | undefined;

  constructor(
    services: Services,
    viewer: Viewer | null,
    { address = '', db, readContext, dbBefore, cancellation, readsBodies = true }: ContextOptions = {},
  ) {
    this.services = services;
    this.address = address;
    this.#db = db;
    this.#readContext = readContext;
    this.readsBodies = readsBodies;
    this.#loadersBefore = dbBefore && createLoaders(dbBefore, () => this);
    this.#viewer = viewer;
    this.#cancellation = cancellation;
  }

  /** Created when it is needed, which takes a few microseconds. */
  get db(): Db {
    const { database } = this.services;
    this.#db ??= this.#readContext ? database.readsFor(this.#readContext) : database.db;
    return this.#db;
  }

  /** The loaders cache rows until the next change. */
  get loaders(): Loaders {
    this.#loaders ??= createLoaders(this.db, () => this);
    return this.#loaders;
  }

  get viewer(): Viewer | null {
    this.hasReadViewer = true;
    return this.#viewer;
  }

  /**
   * A request without credentials sees public data, which is the same for everyone, so the viewer does not count as
   * read.
   */
  get visibleRooms(): VisibleRooms {
    return visibleRoomsOf(this.#viewer === null ? null : this.viewer);
  }

  viewerFor({ id }: PublicUser): Viewer | null {
    return this.#signedIn?.get(id) ?? this.viewer;
  }

  addSignedInViewer(viewer: Viewer): void {
    this.#signedIn ??= new Map();
    this.#signedIn.set(viewer.user.id, viewer);
    // A new password revokes the credentials that the operation was sent with.
    if (this.#viewer?.user.id === viewer.user.id) this.#viewer = viewer;
  }

  /** An arrow function, so that resolvers can destructure it from the context. */
  readonly change = async <T>(
    work: (db: Db, record: ChangeRecord) => Promise<T>,
    shared?: SharedCommit,
  ): Promise<T> => {
    const cancellation = this.#cancellation;
    const options = { cancellation, ...shared, span: this.#readContext?.span };
    const changing = commitChange(this.services.database, this.services.bus, work, options);
    // Also after a failure: it may mean that another request has changed the rows.
    const { result, events } = await changing.finally(() => {
      this.#loaders = undefined;
    });
    // No timer can run between the commit and this line.
    if (cancellation) cancellation.hasCommitted = true;
    // Before the first change the answer contains nothing that the change could have made stale.
    this.#ownEvents ??= events;
    return result;
  };

  /** Makes the cursor of the event's room that of the event, because the room's row may be newer. */
  pinPosition(event: StreamEvent): void {
    this.#positions ??= new Map();
    this.#positions.set(event.roomId, event);
  }

  cursorOf(room: RoomRow): string | Promise<string> {
    if (this.#loadersBefore) return this.#cursorFrom(this.#loadersBefore, room.id);
    const { seq, mark } = this.#positions?.get(room.id) ?? headOf(room);
    return encodeCursor({ roomId: room.id, seq, mark });
  }

  /**
   * The end of the log before this operation, advanced past the events that the operation itself wrote directly after
   * it.
   */
  async #cursorFrom(loadersBefore: Loaders, roomId: string): Promise<string> {
    const room = await loadersBefore.room.load(roomId);
    let { seq, mark } = room ? headOf(room) : logStart;
    for (const event of this.#ownEvents ?? []) {
      if (event.roomId === roomId && event.seq === seq + 1 && event.previousMark === mark) ({ seq, mark } = event);
    }
    return encodeCursor({ roomId, seq, mark });
  }
}

/** For an execution whose result many viewers share. Reading its viewer throws. */
export class SharedContext extends OperationContext {
  constructor(services: Services, options: ContextOptions) {
    super(services, null, options);
  }

  override get visibleRooms(): VisibleRooms {
    return visibleRoomsOf(this.viewer);
  }

  override get viewer(): never {
    this.hasReadViewer = true;
    throw new Error('A shared execution has no viewer.');
  }
}
