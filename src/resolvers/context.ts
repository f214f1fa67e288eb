import type { Database, Db, TransactionOptions } from '../data/database.ts';
import type { IdempotencyClaim } from '../data/idempotency-keys.ts';
import type { Loaders } from '../data/loaders.ts';
import type { PublicUser, RoomRow } from '../data/tables.ts';
import type { VisibleRooms } from '../data/visible-rooms.ts';
import type { Audit } from '../identity/audit.ts';
import type { Passwords } from '../identity/session/passwords.ts';
import type { Sessions } from '../identity/session/session.ts';
import type { SignInLimit } from '../identity/session/sign-in-limit.ts';
import type { Viewer } from '../identity/viewer.ts';
import type { Bus } from '../live/bus/bus.ts';
import type { ChangeRecord } from '../live/changes.ts';
import type { Deletions } from '../live/deletions/deletions.ts';
import type { Inventory } from '../live/inventory/inventory.ts';
import type { Presence } from '../live/presence/presence.ts';

/** The parts of the server that every operation uses. */
export interface Services {
  database: Database;
  bus: Bus;
  sessions: Sessions;
  passwords: Passwords;
  signInLimit: SignInLimit;
  audit: Audit;
  deletions: Pick<Deletions, 'start'>;
  presence: Pick<Presence, 'read' | 'startTyping' | 'stopTyping'>;
  inventory: Pick<Inventory, 'findClients' | 'endClient' | 'readStatus'>;
}

/** The changes with which a transaction may share its commit. */
export type SharedCommit = Pick<TransactionOptions, 'room' | 'memberId'>;

/** The context of one operation, as resolvers receive it. */
export interface Context {
  readonly services: Services;
  /** The caller. Reading it makes the result of a subscription personal. */
  readonly viewer: Viewer | null;
  /** The rooms that the viewer may see. */
  readonly visibleRooms: VisibleRooms;
  /** The IP address that the operation came from. */
  readonly address: string;
  readonly db: Db;
  readonly loaders: Loaders;
  /** Whether the operation selects the body of a post anywhere. */
  readonly readsBodies: boolean;
  /**
   * The viewer for whom the fields of `user` are resolved: the viewer that signed in as this user in this operation,
   * else the viewer of the operation.
   */
  viewerFor(user: PublicUser): Viewer | null;
  /**
   * Records that `viewer` presented valid credentials in this operation. They then see the private fields of their
   * own account. The user of the operation stays the same; if it is this user, the fields that follow use the new credentials.
   */
  addSignedInViewer(viewer: Viewer): void;
  /**
   * The idempotency key of the root field that is being resolved; root fields of a mutation run one after the other. It
   * is stored with the field's change.
   */
  idempotency: IdempotencyClaim | undefined;
  /** Runs one durable transaction. Its events are published after the commit. */
  change<T>(work: (db: Db, record: ChangeRecord) => Promise<T>, shared?: SharedCommit): Promise<T>;
  /** The room's live cursor. It is never newer than any other data of the room in the answer. */
  cursorOf(room: RoomRow): string | Promise<string>;
}
