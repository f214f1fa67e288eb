import type { BackgroundWork } from '../changes/background-work.ts';
import { type ChangeRecord, commitChange } from '../changes/commit-change.ts';
import type { Requester } from '../common/limited-queue.ts';
import type { Config } from '../config/config.ts';
import type { Database, Db, ReadContext, TransactionOptions } from '../data/database/database.ts';
import type { IdempotencyClaim } from '../data/domain/idempotency-keys.ts';
import { createLoaders, type Loaders } from '../data/domain/loaders.ts';
import type { ViewerScope } from '../data/domain/visible-rooms.ts';
import { headOf, type LogPosition, logStart, type RoomEvent, type StreamEvent } from '../data/event-log/events.ts';
import type { PublicUser, RoomRow } from '../data/tables.ts';
import { viewerScopeOf } from '../identity/access.ts';
import type { Audit } from '../identity/audit.ts';
import type { Passwords } from '../identity/session/passwords.ts';
import type { Sessions } from '../identity/session/session.ts';
import type { SignInLimit } from '../identity/session/sign-in-limit.ts';
import type { Viewer } from '../identity/viewer.ts';
import type { Bus } from '../live/bus/bus.ts';
import { encodeCursor } from '../live/cursor.ts';
import type { Inventory } from '../live/inventory/inventory.ts';
import type { Presence } from '../live/presence/presence.ts';
import type { Extensions } from './extensions/extensions.ts';

/** The parts of the server that every operation uses. */
export interface Services {
  extensions: Extensions;
  database: Database;
  bus: Bus;
  sessions: Sessions;
  signUp: Config['signUp'];
  passwords: Passwords;
  signInLimit: SignInLimit;
  audit: Audit;
  deletions: Pick<BackgroundWork, 'start'>;
  presence: Pick<Presence, 'read' | 'startTyping' | 'stopTyping'>;
  inventory: Pick<Inventory, 'findClients' | 'endClient' | 'readStatus' | 'readLoad' | 'findRefusals'>;
}

/** The changes with which a transaction may share its commit. */
export type SharedCommit = Pick<TransactionOptions, 'room' | 'memberId'>;

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
  cancellation?: TransactionOptions['cancellation'];
  readsBodies?: boolean;
}

/** The context of one operation, as resolvers receive it. */
export class Context {
  readonly services: Services;
  /** The IP address that the operation came from. */
  readonly address: string;
  /** Whether the operation selects the body of a post anywhere. */
  readonly readsBodies: boolean;
  /** Whether the result may differ between viewers. */
  hasReadViewer = false;
  /**
   * The idempotency key of the root field that is being resolved; root fields of a mutation run one after the other. It
   * is stored with the field's change.
   */
  idempotency: IdempotencyClaim | undefined;
  #viewer: Viewer | null;
  readonly #readContext: ReadContext | undefined;
  #db: Db | undefined;
  readonly #cancellation: TransactionOptions['cancellation'];
  #signedIn: Map<string, Viewer> | undefined;
  #pinned: StreamEvent | undefined;
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

  /** For work that takes turns by address, such as the hashing of passwords. */
  get requester(): Requester {
    return { caller: this.address, cancellation: this.#cancellation };
  }

  /** Created when it is needed, which takes a few microseconds. */
  get db(): Db {
    const { database } = this.services;
    this.#db ??= this.#readContext ? database.readsFor(this.#readContext) : database.db;
    return this.#db;
  }

  /** The loaders cache rows until the next change. */
  get loaders(): Loaders {
    const before = this.#loadersBefore;
    this.#loaders ??= createLoaders(this.db, () => this, before && ((roomId) => this.#positionFrom(before, roomId)));
    return this.#loaders;
  }

  /** The caller. Reading it makes the result of a subscription personal. */
  get viewer(): Viewer | null {
    this.hasReadViewer = true;
    return this.#viewer;
  }

  /**
   * Decides which rooms the viewer may see. A request without credentials sees public data, which is the same for everyone, so
   * the viewer does not count as read.
   */
  get viewerScope(): ViewerScope {
    return viewerScopeOf(this.#viewer === null ? null : this.viewer);
  }

  /**
   * The viewer for whom the fields of a user are resolved: the viewer that signed in as this user in this operation,
   * else the viewer of the operation.
   */
  viewerFor({ id }: PublicUser): Viewer | null {
    return this.#signedIn?.get(id) ?? this.viewer;
  }

  /**
   * Records that `viewer` presented valid credentials in this operation. They then see the private fields of their
   * own account. The user of the operation stays the same; if it is this user, the fields that follow use the new credentials.
   */
  addSignedInViewer(viewer: Viewer): void {
    this.#signedIn ??= new Map();
    this.#signedIn.set(viewer.user.id, viewer);
    // A new password revokes the credentials that the operation was sent with.
    if (this.#viewer?.user.id === viewer.user.id) this.#viewer = viewer;
  }

  /**
   * Runs one durable transaction. Its events are published after the commit. An arrow function, so that resolvers can
   * destructure it from the context.
   */
  readonly change = async <T>(
    work: (db: Db, record: ChangeRecord) => Promise<T>,
    shared?: SharedCommit,
  ): Promise<T> => {
    const options = { cancellation: this.#cancellation, ...shared, span: this.#readContext?.span };
    const changing = commitChange(this.services.database, this.services.bus, work, options);
    // Also after a failure: it may mean that another request has changed the rows.
    const { result, events } = await changing.finally(() => {
      this.#loaders = undefined;
    });
    // Before the first change the answer contains nothing that the change could have made stale.
    this.#ownEvents ??= events;
    return result;
  };

  /** Makes the cursor of the event's room that of the event, because the room's row may be newer. */
  pinPosition(event: StreamEvent): void {
    this.#pinned = event;
  }

  /** The room's live cursor. It is never newer than any other data of the room in the answer. */
  cursorOf(room: RoomRow): string | Promise<string> {
    if (this.#loadersBefore)
      return this.#positionFrom(this.#loadersBefore, room.id).then((position) =>
        encodeCursor({ roomId: room.id, ...position }),
      );
    const { seq, mark } = this.#pinned?.roomId === room.id ? this.#pinned : headOf(room);
    return encodeCursor({ roomId: room.id, seq, mark });
  }

  /** The position in the log of a user, before this operation. */
  async cursorOfUser(userId: string): Promise<string> {
    const head = await (this.#loadersBefore ?? this.loaders).userHead.load(userId);
    return encodeCursor({ roomId: userId, ...head });
  }

  /**
   * The end of the log before this operation, advanced past the events that the operation itself wrote directly after
   * it.
   */
  async #positionFrom(loadersBefore: Loaders, roomId: string): Promise<LogPosition> {
    const room = await loadersBefore.room.load(roomId);
    let { seq, mark } = room ? headOf(room) : logStart;
    for (const event of this.#ownEvents ?? []) {
      if (event.roomId === roomId && event.seq === seq + 1 && event.previousMark === mark) ({ seq, mark } = event);
    }
    return { seq, mark };
  }
}

/** For an execution whose result many viewers share. Reading its viewer throws. */
export class SharedContext extends Context {
  constructor(services: Services, options: ContextOptions) {
    super(services, null, options);
  }

  override get viewerScope(): ViewerScope {
    return viewerScopeOf(this.viewer);
  }

  override get viewer(): never {
    this.hasReadViewer = true;
    throw new Error('A shared execution has no viewer.');
  }
}
