import type { ViewerScope } from '../../data/domain/visible-rooms.ts';
import type { AccessHolder } from '../feed/feed.ts';
import { firstByName, maxTyping, maxUsers, type Named, type PresencePart } from './presence-state.ts';

/** The time for which a viewer whose connection was lost remains present. */
export const absenceMs = 10_000;
const typingMs = 5_000;

/** A viewer whose connection was lost when there are as many already is absent at once. */
const maxAbsences = 50_000;

/** Who is present: a user, or an anonymous viewer at an address. */
export interface PresentViewer {
  /** Null for an anonymous viewer. */
  user: Named | null;
  address: string;
  /** The id of the API key in use. */
  keyId: string | undefined;
  viewerScope: ViewerScope;
}

/** The presence of one user, or of all anonymous viewers at one address. */
interface Present extends PresentViewer {
  /** The numbers of streams by connection. */
  connections: Map<object, number>;
  /** One timer for each lost connection that may come back. */
  absences: Set<NodeJS.Timeout>;
}

interface Typing extends Named {
  /** That of the user, who may be an API key. */
  accountId: string;
  viewerScope: ViewerScope;
  timer: NodeJS.Timeout;
}

/**
 * The viewers of a room that are present through this node. Calls `onChange` after each change, with the user who may
 * have joined or left.
 */
export class OwnPresence implements PresencePart {
  /** By id. */
  readonly users = new Map<string, Present>();
  /** By address. */
  readonly #anonymous = new Map<string, Present>();
  readonly #typing = new Map<string, Typing>();
  readonly #node: { absences: number };
  readonly #onChange: (userId?: string) => void;
  #first: readonly string[] | undefined;

  /** `absences`: the lost connections of all rooms of this node. */
  constructor(node: { absences: number }, onChange: (userId?: string) => void) {
    this.#node = node;
    this.#onChange = onChange;
  }

  get isEmpty(): boolean {
    return this.users.size + this.#anonymous.size + this.#typing.size === 0;
  }

  /** The number of anonymous viewers: one for each connection. */
  get anonymous(): number {
    return this.#anonymous
      .values()
      .reduce((sum, { connections, absences }) => sum + connections.size + absences.size, 0);
  }

  /** The ids of the first by name. */
  get first(): readonly string[] {
    const users = [...this.users.values()].flatMap(({ user }) => user ?? []);
    this.#first ??= firstByName(users, maxUsers).map(({ id }) => id);
    return this.#first;
  }

  /** The ids of the first by name that are typing. */
  get typing(): readonly string[] {
    return firstByName(this.#typing.values(), maxTyping).map(({ id }) => id);
  }

  /** The viewers, who are present and typing only as long as they may see the room. */
  *holders(): Generator<AccessHolder> {
    for (const present of this.#all()) yield { viewerScope: present.viewerScope, end: () => this.#end(present) };
    for (const { id, viewerScope } of this.#typing.values()) yield { viewerScope, end: () => this.stopTyping(id) };
  }

  /** A stream begins. A viewer whose connection was lost is back with the first of another. */
  enter(viewer: PresentViewer, connection: object): void {
    const [all, key] = this.#placeOf(viewer);
    const present = all.get(key) ?? { ...viewer, connections: new Map(), absences: new Set() };
    all.set(key, present);
    const streams = present.connections.get(connection) ?? 0;
    present.connections.set(connection, streams + 1);
    if (streams === 0) this.#endAbsence(present, present.absences.values().next().value);
    Object.assign(present, { viewerScope: viewer.viewerScope, keyId: viewer.keyId });
    this.#changeUser(present);
  }

  /** A stream ends. `mayReturn`: its connection was lost, so that the viewer remains present for ten seconds. */
  leave(viewer: PresentViewer, connection: object, mayReturn: boolean): void {
    const [all, key] = this.#placeOf(viewer);
    const present = all.get(key);
    const streams = present?.connections.get(connection);
    if (!present || streams === undefined) return;
    if (streams > 1) return void present.connections.set(connection, streams - 1);
    present.connections.delete(connection);
    if (!mayReturn || this.#node.absences >= maxAbsences) return this.#dropIfGone(present);
    const absence = setTimeout(() => {
      this.#endAbsence(present, absence);
      this.#dropIfGone(present);
    }, absenceMs).unref();
    present.absences.add(absence);
    this.#node.absences += 1;
  }

  /** The user types, for five seconds from now. */
  startTyping(user: Named & Pick<Typing, 'accountId'>, viewerScope: ViewerScope): void {
    clearTimeout(this.#typing.get(user.id)?.timer);
    const timer = setTimeout(() => this.stopTyping(user.id), typingMs).unref();
    this.#typing.set(user.id, { ...user, viewerScope, timer });
    this.#onChange();
  }

  stopTyping(userId: string): void {
    clearTimeout(this.#typing.get(userId)?.timer);
    if (this.#typing.delete(userId)) this.#onChange();
  }

  /** The user and the API keys of the user stop typing. */
  mute(userId: string): void {
    for (const { id, accountId } of [...this.#typing.values()])
      if (id === userId || accountId === userId) this.stopTyping(id);
  }

  /** Credentials were revoked: connections that were lost do not come back. */
  forget(revoked: { userId: string } | { keyId: string }): void {
    // An API key belongs to a user of its own.
    const present =
      'keyId' in revoked
        ? this.users.values().find(({ keyId }) => keyId === revoked.keyId)
        : this.users.get(revoked.userId);
    if (present) this.#endAbsences(present);
  }

  clear(): void {
    for (const present of [...this.#all()]) this.#end(present);
    for (const id of [...this.#typing.keys()]) this.stopTyping(id);
  }

  *#all(): Generator<Present> {
    yield* this.users.values();
    yield* this.#anonymous.values();
  }

  #end(present: Present): void {
    present.connections.clear();
    this.#endAbsences(present);
  }

  #endAbsences(present: Present): void {
    for (const absence of present.absences) this.#endAbsence(present, absence);
    this.#dropIfGone(present);
  }

  #endAbsence(present: Present, absence: NodeJS.Timeout | undefined): void {
    clearTimeout(absence);
    if (absence && present.absences.delete(absence)) this.#node.absences -= 1;
  }

  #placeOf({ user, address }: PresentViewer): [all: Map<string, Present>, key: string] {
    return user ? [this.users, user.id] : [this.#anonymous, address];
  }

  #dropIfGone(present: Present): void {
    const [all, key] = this.#placeOf(present);
    if (present.connections.size + present.absences.size === 0 && all.get(key) === present) all.delete(key);
    this.#changeUser(present);
  }

  #changeUser({ user }: PresentViewer): void {
    this.#first = undefined;
    this.#onChange(user?.id);
  }
}
