import type { Transaction } from 'kysely';
import type { Tables } from '../tables.ts';

/** Changes the tables by one version, inside a transaction. */
export type Migration = (db: Transaction<Tables>, dialect: TableDialect) => Promise<void>;

/** How the databases that Postroom supports define tables. */
export interface TableDialect {
  /** The type of text that is compared byte by byte, and in which `lower` changes only A to Z. */
  text: 'text' | 'text collate "C"';
  /** The type of a column that holds milliseconds or counts beyond 32 bits. */
  bigint: 'integer' | 'bigint';
  /** The options after `create table (…)`. */
  tableOptions: string;
  /** An expression that gives each row a random whole number from 1 to 2,147,483,647. */
  randomMark: string;
}
