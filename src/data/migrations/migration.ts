import type { RawBuilder } from 'kysely';

/** Changes the tables of an extension once. */
export interface ExtensionMigration {
  /** Stored with the database: what has this name does not run again. */
  name: string;
  statements: (dialect: TableDialect) => readonly RawBuilder<unknown>[];
}

/** Whose migrations they are: the names need only differ from each other. */
export interface MigrationOwner {
  name: string;
  migrations?: readonly ExtensionMigration[];
  /** What the tables must have after them. */
  tables?: Readonly<Record<string, { author?: string | undefined; user?: string | undefined }>>;
}

/** Changes the tables of Postroom by one version. */
export interface Migration extends ExtensionMigration {
  /**
   * Whether programs that work with the tables before this migration also work with the tables after it: they neither
   * miss something in them nor leave something out. During a rolling upgrade they run beside the new program.
   */
  keepsPrograms: boolean;
}

/** How the databases that Postroom supports define tables. */
export interface TableDialect {
  /** The type of text that is compared byte by byte, and in which `lower` changes only A to Z. */
  text: RawBuilder<unknown>;
  /** The type of a column that holds milliseconds or counts beyond 32 bits. */
  bigint: RawBuilder<unknown>;
  /** The options after `create table (…)`. */
  tableOptions: RawBuilder<unknown>;
  /** The same for `rooms`, whose rows change most often. */
  roomOptions: RawBuilder<unknown>;
  /** Statements that create tables of this database only. */
  ownTables: readonly RawBuilder<unknown>[];
  /** An expression that gives each row a random whole number from 1 to 2,147,483,647. */
  randomMark: RawBuilder<unknown>;
  /** Runs statements after each row that is inserted into a table, as `new`, or deleted from it, as `old`. */
  trigger: (
    name: string,
    cause: 'insert' | 'delete',
    table: string,
    statements: RawBuilder<unknown>,
  ) => readonly RawBuilder<unknown>[];
  /** The text of a column in the Unicode form NFC: see `toComposed`. */
  composed: (column: string) => RawBuilder<unknown>;
}
