import type { Transaction } from 'kysely';
import type { Tables } from '../tables.ts';

/** Changes the tables by one version, inside a transaction. */
export type MigrationWork = (db: Transaction<Tables>, dialect: TableDialect) => Promise<void>;

export interface Migration {
  migrate: MigrationWork;
  /**
   * Whether programs that work with the tables before this migration also work with the tables after it: they neither
   * miss something in them nor leave something out. During a rolling upgrade they run beside the new program.
   */
  keepsPrograms: boolean;
}

/** How the databases that Postroom supports define tables. */
export interface TableDialect {
  /** The type of text that is compared byte by byte, and in which `lower` changes only A to Z. */
  text: 'text' | 'text collate "C"';
  /** The type of a column that holds milliseconds or counts beyond 32 bits. */
  bigint: 'integer' | 'bigint';
  /** The options after `create table (…)`. */
  tableOptions: string;
  /** The same for `rooms`, whose rows change most often. */
  roomOptions: string;
  /** Statements that create tables of this database only. */
  ownTables: readonly string[];
  /** An expression that gives each row a random whole number from 1 to 2,147,483,647. */
  randomMark: string;
}
