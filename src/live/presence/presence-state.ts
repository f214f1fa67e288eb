import { firstOf } from '../first-of.ts';

/** The present users of a room, as far as they are named. */
export interface PresenceState {
  roomId: string;
  /** The number of present users and of anonymous viewers. */
  count: number;
  /** The ids of the users among whom the first `maxUsers` by name are; in no order. */
  users: readonly string[];
  /** The ids of the users among whom the first `maxTyping` by name are; in no order. */
  typing: readonly string[];
}

/** The presence in a room on this node, or one page of that on another. */
export interface PresencePart {
  /** By id. */
  users: ReadonlySet<string> | ReadonlyMap<string, unknown>;
  /** The ids of the first users by name of the whole node. */
  first: readonly string[];
  anonymous: number;
  typing: readonly string[];
}

/** A user who is present through several nodes counts once. */
export function joinPresence(roomId: string, parts: readonly PresencePart[]): PresenceState {
  const [some, ...others] = parts.filter(({ users }) => users.size > 0);
  const userCount =
    others.length === 0 ? (some?.users.size ?? 0) : new Set(parts.flatMap(({ users }) => [...users.keys()])).size;
  return {
    roomId,
    count: parts.reduce((count, { anonymous }) => count + anonymous, userCount),
    users: [...new Set(parts.flatMap(({ first }) => first))],
    typing: [...new Set(parts.flatMap(({ typing }) => typing))],
  };
}

export const maxUsers = 100;
export const maxTyping = 10;

export interface Named {
  id: string;
  name: string;
}

/** The first by name, in order; those of the same name by id. */
export function firstByName<Item extends Named>(all: Iterable<Item>, limit: number): Item[] {
  return firstOf(all, limit, (one, other) => one.name < other.name || (one.name === other.name && one.id < other.id));
}
