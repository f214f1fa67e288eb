import {
  type BigIntStats,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdtempSync,
  openSync,
  readSync,
  realpathSync,
  rmdirSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { createFolder } from '../../common/create-folder.ts';
import { DatabaseUnusable } from '../database/database.ts';

const magic = 'SQLite format 3\0';
/** The offset of `user_version` in the header of the file: https://www.sqlite.org/fileformat.html */
const userVersionOffset = 60;
/** https://www.sqlite.org/walformat.html#the_wal_index_header */
const indexHeaderBytes = 136;
const copyBytes = 65_536;
/** The suffixes of the write-ahead log and its index. Other processes find these files by path, like the database. */
const suffixes = ['-wal', '-shm'];

/**
 * The database file. Its descriptor stays open until the end, for two reasons: closing any descriptor of the file would
 * release the locks that SQLite holds in this process, and while it is open no other file can get its inode number.
 */
export class SqliteFile {
  readonly path: string;
  readonly descriptor: number;
  readonly #onClose: () => void;
  readonly #opened = new Map<string, BigIntStats>();
  /** The database's `user_version`, after it was found in the file itself. */
  #id: number | undefined;
  #isOverwritten = false;

  private constructor(path: string, onClose = () => {}) {
    createFolder(dirname(path));
    assertNoOrphanedLog(path);
    this.path = path;
    this.descriptor = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    this.#onClose = onClose;
  }

  /** @throws DatabaseUnusable, or an error of the system if the file cannot be created, read or written. */
  static open(path: string): SqliteFile {
    const file = path === ':memory:' ? SqliteFile.#createTemporary() : new SqliteFile(resolve(path));
    const start = file.#read(0, magic.length);
    if (start.length === 0 || start.toString('latin1') === magic) return file;
    file.close();
    throw new DatabaseUnusable('it is not an SQLite database');
  }

  /** SQLite's in-memory database allows only one connection. This file, in a private folder, is removed at the end. */
  static #createTemporary(): SqliteFile {
    const folder = mkdtempSync(join(tmpdir(), 'postroom-'));
    const remove = () => rmSync(folder, { recursive: true, force: true });
    process.once('exit', remove);
    return new SqliteFile(join(folder, 'postroom.db'), () => {
      process.off('exit', remove);
      remove();
    });
  }

  get url(): string {
    return urlOf(this.path);
  }

  /** The path of the write-ahead log. SQLite derives it from the target of a symbolic link. */
  get log(): string {
    return `${realpathSync(this.path)}-wal`;
  }

  /**
   * Writes the write-ahead log that an earlier process has left a second time, so that the next flush covers all of it, and
   * has it recovered. After a failed flush, pages that are not on the disk count as written: no later flush would write them, and
   * the system may forget them at any time. Call it inside a transaction.
   */
  rewriteLog(): void {
    const log = openSync(this.log, 'r+');
    const { size } = fstatSync(log);
    const bytes = Buffer.alloc(copyBytes);
    for (let offset = 0; offset < size; ) {
      const length = readSync(log, bytes, 0, bytes.length, offset);
      offset += writeSync(log, bytes, 0, length, offset);
    }
    closeSync(log);
    if (size > 0) this.clearIndex();
  }

  /**
   * Makes all connections, also those of other processes, recover the write-ahead log: they read it up to the first frame
   * whose checksum is wrong, and the next checkpoint copies all of it.
   */
  clearIndex(): void {
    // It is not closed, because that would release the locks of SQLite on the index.
    const index = openSync(`${realpathSync(this.path)}-shm`, 'r+');
    writeSync(index, Buffer.alloc(indexHeaderBytes), 0, indexHeaderBytes, 0);
  }

  /** Call it when all connections are open. From then on the paths must lead to the files that are open now. */
  watch(): void {
    // SQLite derives the names of these files from the target of a symbolic link.
    const target = realpathSync(this.path);
    for (const path of [this.path, ...suffixes.map((suffix) => target + suffix)]) {
      const opened = stat(path);
      if (opened) this.#opened.set(path, opened);
    }
  }

  /** The reason why nothing may be written, or undefined. Takes 5 µs. */
  findPathFault(): string | undefined {
    try {
      for (const [path, opened] of this.#opened) {
        const present = stat(path);
        if (!present) return `${path} was removed`;
        if (present.ino !== opened.ino || present.dev !== opened.dev) return `${path} was replaced by another file`;
      }
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  /**
   * Like `findPathFault`, and also checks whether another database than that with the `user_version` `id` was copied over
   * the open file. A copied backup of the same database is not detected. The fault is permanent, because the state of
   * the connections no longer fits the file.
   */
  findFault(id: number): string | undefined {
    try {
      const start = this.#read(userVersionOffset, 4);
      const found = start.length === 4 ? start.readInt32BE() : undefined;
      // Before the first checkpoint, the id is only in the write-ahead log.
      if (found === id) this.#id = id;
      this.#isOverwritten ||= this.#id !== undefined && found !== id;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
    return this.#isOverwritten
      ? `${this.path} was overwritten while it was open; stop the server and restore it`
      : this.findPathFault();
  }

  close(): void {
    closeSync(this.descriptor);
    this.#onClose();
  }

  #read(offset: number, length: number): Buffer {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(this.descriptor, bytes, 0, length, offset));
  }
}

/** The URL for SQLite; it opens the file, and never creates a file. */
function urlOf(path: string): string {
  return `${pathToFileURL(path)}?mode=rw`;
}

/** Opens a database for a command, which waits for the locks of others. */
export function openExisting(path: string, busyTimeoutMs = 5_000): DatabaseSync {
  return new DatabaseSync(urlOf(path), { timeout: busyTimeoutMs });
}

/** Tries it in the nearest folder that exists. @throws DatabaseUnusable */
export function assertCreatable(folder: string): void {
  if (!existsSync(folder)) return assertCreatable(dirname(folder));
  try {
    rmdirSync(mkdtempSync(join(folder, '.postroom-')));
  } catch (error) {
    throw new DatabaseUnusable(`nothing can be created in ${folder}: ${(error as Error).message}`, { cause: error });
  }
}

/**
 * With a new database file, SQLite would reuse the write-ahead log of the missing database, and its data would be lost.
 * @throws DatabaseUnusable
 */
export function assertNoOrphanedLog(path: string): void {
  if (stat(path)) return;
  const left = suffixes.find((suffix) => stat(path + suffix));
  if (left === undefined) return;
  const files = suffixes.map((suffix) => path + suffix);
  throw new DatabaseUnusable(
    `it is missing, but ${path}${left} is there: put the database back, or remove ${files.join(' and ')} to begin with an empty one`,
  );
}

/** SQLite reports an I/O error if there is no space for the index of the write-ahead log. /proc has no blocks at all. */
export function isDiskFull(path: string): boolean {
  try {
    const { blocks, bavail } = statfsSync(dirname(resolve(path)));
    return blocks > 0 && bavail === 0;
  } catch {
    return false;
  }
}

function stat(path: string): BigIntStats | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false });
}
