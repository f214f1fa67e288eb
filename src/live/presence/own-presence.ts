import { firstByName, maxTyping, maxUsers, type Named } from './presence-state.ts';

/** The time for which a viewer whose connection was lost remains present. */
export const absenceMs = 10_000;
const typingMs = 5_000;

/** A viewer whose connection was lost when there are as many already is absent at once. */
const maxAbsences = 50_000;

/** The lost connections of all rooms of this node. */
export interface Absences {
  count: number;
}

/** Who is present: a user, or an anonymous viewer at an address. */
export interface PresentViewer {
  /** Null for an anonymous viewer. */
  user: Named | null;
  address: string;
  /** The id of the API key in use. */
  keyId: string | undefined;
  /** Whether the user loses no access together with a membership. */
  seesAll: boolean;
}

/** The presence of one user, or of all anonymous viewers at one address. */
interface Present extends PresentViewer {
  streams: number;
  /** One timer for each lost connection that may come back. */
  absences: Set<NodeJS.Timeout>;
}

interface Typing extends Named {
  seesAll: boolean;
  timer: NodeJS.Timeout;
  /** By performance.now(). */
  endsAt: number;
}

/**
 * The viewers of a room that are present through this node. Calls `onChange` after each change, with the user who may
 * have joined or left.
 */
export class OwnPresence {
  readonly #users = new Map<string, Present & { user: Named }>();
  /** By address. */
  readonly #anonymous = new Map<string, Present>();
  readonly #typing = new Map<string, Typing>();
  readonly #absences: Absences;
  readonly #onChange: (userId?: string) => void;
  #first: readonly string[] | undefined;

  constructor(absences: Absences, onChange: (userId?: string) => void) {
    this.#absences = absences;
    this.#onChange = onChange;
  }

  get isEmpty(): boolean {
    return this.#users.size + this.#anonymous.size + this.#typing.size === 0;
  }

  /** The ids of the present users. */
  get users(): ReadonlyMap<string, unknown> {
    return this.#users;
  }

  /** The number of anonymous viewers. */
  get anonymous(): number {
    return this.#anonymous.values().reduce((sum, { streams, absences }) => sum + streams + absences.size, 0);
  }

  /** The ids of the first by name. */
  get first(): readonly string[] {
    const users = this.#users.values().map(({ user }) => user);
    this.#first ??= firstByName(users, maxUsers).map(({ id }) => id);
    return this.#first;
  }

  /** The first by name of the users that are typing. */
  get typing(): readonly Typing[] {
    return firstByName(this.#typing.values(), maxTyping);
  }

  /** The users that are present only as long as they may see the room. */
  get usersWithLimitedAccess(): string[] {
    const present = this.#users.values().filter(({ seesAll }) => !seesAll);
    const typing = this.#typing.values().filter(({ seesAll }) => !seesAll);
    return [...present.map(({ user }) => user.id), ...typing.map(({ id }) => id)];
  }

  get anonymousAddresses(): string[] {
    return [...this.#anonymous.keys()];
  }

  /** A stream begins. A viewer whose connection was lost is back. */
  enter(viewer: PresentViewer): void {
    const present = this.#find(viewer) ?? this.#add(viewer);
    present.streams += 1;
    this.#endAbsence(present, present.absences.values().next().value);
    Object.assign(present, { seesAll: viewer.seesAll, keyId: viewer.keyId });
    this.#changeUser(present);
  }

  /** A stream ends. `mayReturn`: its connection was lost, so that the viewer remains present for ten seconds. */
  leave(viewer: PresentViewer, mayReturn: boolean): void {
    const present = this.#find(viewer);
    if (!present || present.streams === 0) return;
    present.streams -= 1;
    if (!mayReturn || this.#absences.count >= maxAbsences) return this.#dropIfGone(present);
    const absence = setTimeout(() => {
      this.#endAbsence(present, absence);
      this.#dropIfGone(present);
    }, absenceMs).unref();
    present.absences.add(absence);
    this.#absences.count += 1;
  }

  /** The user types, for five seconds from now. */
  startTyping(user: Named, seesAll: boolean): void {
    clearTimeout(this.#typing.get(user.id)?.timer);
    const timer = setTimeout(() => this.stopTyping(user.id), typingMs).unref();
    this.#typing.set(user.id, { ...user, seesAll, timer, endsAt: performance.now() + typingMs });
    this.#onChange();
  }

  stopTyping(userId: string): void {
    clearTimeout(this.#typing.get(userId)?.timer);
    if (this.#typing.delete(userId)) this.#onChange();
  }

  /** The user has no access to the room any more. */
  remove(userId: string): void {
    this.stopTyping(userId);
    const present = this.#users.get(userId);
    if (present) this.#end(present);
  }

  /** Credentials were revoked: connections that were lost do not come back. */
  forget(revoked: { userId: string } | { keyId: string }): void {
    const present = 'keyId' in revoked ? this.#findByKey(revoked.keyId) : this.#users.get(revoked.userId);
    if (present) this.#endAbsences(present);
  }

  /** Anonymous viewers at these addresses have no access to the room any more. */
  removeAnonymous(addresses: readonly string[]): void {
    for (const address of addresses) {
      const present = this.#anonymous.get(address);
      if (present) this.#end(present);
    }
  }

  clear(): void {
    for (const id of [...this.#users.keys(), ...this.#typing.keys()]) this.remove(id);
    this.removeAnonymous(this.anonymousAddresses);
  }

  /** An API key belongs to a user of its own. */
  #findByKey(keyId: string): Present | undefined {
    return this.#users.values().find((present) => present.keyId === keyId);
  }

  #end(present: Present): void {
    present.streams = 0;
    this.#endAbsences(present);
  }

  #endAbsences(present: Present): void {
    for (const absence of present.absences) this.#endAbsence(present, absence);
    this.#dropIfGone(present);
  }

  #endAbsence(present: Present, absence: NodeJS.Timeout | undefined): void {
    clearTimeout(absence);
    if (absence && present.absences.delete(absence)) this.#absences.count -= 1;
  }

  #find({ user, address }: PresentViewer): Present | undefined {
    return user ? this.#users.get(user.id) : this.#anonymous.get(address);
  }

  #add(viewer: PresentViewer): Present {
    const { user } = viewer;
    const present = { ...viewer, streams: 0, absences: new Set<NodeJS.Timeout>() };
    if (user) this.#users.set(user.id, { ...present, user });
    else this.#anonymous.set(viewer.address, present);
    return this.#find(viewer) ?? present;
  }

  #dropIfGone(present: Present): void {
    const isGone = present.streams + present.absences.size === 0;
    if (isGone && present.user) this.#users.delete(present.user.id);
    if (isGone && !present.user) this.#anonymous.delete(present.address);
    this.#changeUser(present);
  }

  #changeUser({ user }: PresentViewer): void {
    this.#first = undefined;
    this.#onChange(user?.id);
  }
}
