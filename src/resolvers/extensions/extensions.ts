import { createPrefixedId, idPrefixOf, prefixes } from '../../common/ids.ts';
import { type ExtensionTable, findExtensionRows } from '../../data/domain/extension-tables.ts';
import type { BatchRead } from '../../data/domain/loaders.ts';
import { type ExtensionEvents, noTraits } from '../../data/event-log/room-event-types.ts';
import type { ExtensionMigration } from '../../data/migrations/migration.ts';

/** The types and tables of an extension. */
export interface ExtensionTypes {
  /** 2 to 20 small letters and digits. Its tables begin with it. */
  name: string;
  /** The versions of Postroom that it works with, such as `^0.1`: see `fits`. */
  compatibility: string;
  /** They run once, in this order, at the first start with the extension. */
  migrations?: readonly ExtensionMigration[];
  /** By name. Each has a column `roomId`. */
  tables?: Readonly<Record<string, Omit<ExtensionTable, 'name'>>>;
  /** The types that implement `Node`. */
  nodes?: Readonly<Record<string, ExtensionNode>>;
  /** The types that implement `RoomEvent`. */
  events?: Readonly<Record<string, ExtensionEvent>>;
}

/** A type whose rows are in a table, with the columns `id` and `roomId`. Viewers see those of the rooms that they see. */
interface ExtensionNode {
  /** Its ids begin with it: up to 8 small letters. */
  prefix: string;
  table: string;
  columns: readonly string[];
}

interface ExtensionEvent {
  /** The type of the node whose id is the event's `subjectId`. The event has a field of this name, such as `task`. */
  subject: string;
  /** Whether earlier events of the same subject must be executed again before they are replayed. */
  changesContent?: boolean;
}

export interface ExtensionRow {
  id: string;
  roomId: string;
}

/** A type that implements `Node`, and that `Query.node` finds. */
interface NodeType {
  type: string;
  prefix: string;
}

/** One of an extension. */
interface ExtensionNodeType extends NodeType {
  table: string;
  find: BatchRead<ExtensionRow>;
}

const ownNodes = (['User', 'Room', 'Post'] as const).map((type) => ({ type, prefix: prefixes[type] }));

/** The types of this server with those of all its extensions, and what else the extensions add together. */
export class Extensions {
  readonly isEmpty: boolean;
  readonly tables: readonly ExtensionTable[];
  readonly events: ExtensionEvents;
  readonly #nodes: readonly (NodeType | ExtensionNodeType)[];

  constructor(all: readonly ExtensionTypes[] = []) {
    this.isEmpty = all.length === 0;
    this.tables = all.flatMap(({ tables = {} }) => Object.entries(tables).map(([name, table]) => ({ name, ...table })));
    // They end no access, change no memberships, and carry no post.
    const events = all.flatMap((each) => Object.entries(each.events ?? {}));
    this.events = Object.fromEntries(
      events.map(([type, { changesContent = false }]) => [type, { ...noTraits, changesContent }]),
    );
    const nodes = all.flatMap((each) => Object.entries(each.nodes ?? {}));
    const added = nodes.map(([type, { prefix, table }]) => {
      const find: BatchRead<ExtensionRow> = (db, ids) => findExtensionRows(db, table, ids);
      return { type, prefix, table, find };
    });
    this.#nodes = [...ownNodes, ...added];
  }

  /** The type to which an id belongs. */
  ofId(id: string): NodeType | ExtensionNodeType | undefined {
    const prefix = idPrefixOf(id);
    return this.#nodes.find((node) => node.prefix === prefix);
  }

  /** @throws Error if no extension has the type. */
  ofType(type: string): ExtensionNodeType {
    const found = this.#nodes.find((node) => node.type === type);
    if (!found || !('find' in found)) throw new Error(`No extension has a node ${type}.`);
    return found;
  }

  createId(type: string): string {
    return createPrefixedId((ownNodes.find((node) => node.type === type) ?? this.ofType(type)).prefix);
  }
}
