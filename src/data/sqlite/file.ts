import {
  type BigIntStats,
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  readSync,
  realpathSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const magic = 'SQLite format 3\0';
/** Where the header holds `pragma user_version`: https://www.sqlite.org/fileformat.html */
const userVersionOffset = 60;
/** Of the write-ahead log and its index: other processes find them by their paths, as they find the database. */
const suffixes = ['-wal', '-shm'];

/**
 * The database file. Its descriptor stays open until the end, for two reasons: closing any descriptor of the file would drop
 * the locks that SQLite holds in this process, and no other file can get its inode number meanwhile.
 */
export class SqliteFile {
  readonly path: string;
  readonly #descriptor: number;
  readonly #onClose: () => void;
  readonly #opened = new Map<string, BigIntStats>();
  /** The database's `user_version`, once the file itself was seen to hold it. */
  #id: number | undefined;
  #isOverwritten = false;

  private constructor(path: string, onClose = () => {}) {
    mkdirSync(dirname(path), { recursive: true });
    assertNotLost(path);
    this.path = path;
    this.#descriptor = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    this.#onClose = onClose;
  }

  /** @throws Error where it cannot be created, read or written, or is no database. */
  static open(path: string): SqliteFile {
    const file = path === ':memory:' ? SqliteFile.#createTemporary() : new SqliteFile(resolve(path));
    const start = file.#read(0, magic.length);
    if (start.length === 0 || start.toString('latin1') === magic) return file;
    file.close();
    throw new Error('it is not an SQLite database');
  }

  /** In memory would mean one connection; a file in a private folder behaves like any other and is removed at the end. */
  static #createTemporary(): SqliteFile {
    const folder = mkdtempSync(join(tmpdir(), 'postroom-'));
    const remove = () => rmSync(folder, { recursive: true, force: true });
    process.once('exit', remove);
    return new SqliteFile(join(folder, 'postroom.db'), () => {
      process.off('exit', remove);
      remove();
    });
  }

  /** For SQLite: opens the file, and never creates one. */
  get url(): string {
    return `${pathToFileURL(this.path)}?mode=rw`;
  }

  /** Call it once all connections are open: from here on the paths must lead to the files that are open now. */
  watch(): void {
    // SQLite names them after the file that a symbolic link leads to.
    const target = realpathSync(this.path);
    for (const path of [this.path, ...suffixes.map((suffix) => target + suffix)]) {
      const opened = stat(path);
      if (opened) this.#opened.set(path, opened);
    }
  }

  /** Why nothing may be written, or undefined. Takes 5 µs. */
  findFault(): string | undefined {
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
   * The same, and whether another database was copied over the open file, for a database whose `user_version` is `id`. Copying
   * the own database's backup over it is not noticed. Once noticed it stays: what the connections know no longer fits the file.
   */
  findFaultOrOverwriting(id: number): string | undefined {
    let start: Buffer;
    try {
      start = this.#read(userVersionOffset, 4);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
    const found = start.length === 4 ? start.readInt32BE() : undefined;
    // Until the first checkpoint it is in the write-ahead log alone.
    if (found === id) this.#id = id;
    this.#isOverwritten ||= this.#id !== undefined && found !== id;
    return this.#isOverwritten
      ? `${this.path} was overwritten while it was open; stop the server and restore it`
      : this.findFault();
  }

  close(): void {
    closeSync(this.#descriptor);
    this.#onClose();
  }

  #read(offset: number, length: number): Buffer {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(this.#descriptor, bytes, 0, length, offset));
  }
}

/** Beside a new database SQLite would take over the write-ahead log of the one that is missing, and what it holds would be lost. */
function assertNotLost(path: string): void {
  if (stat(path)) return;
  const left = suffixes.find((suffix) => stat(path + suffix));
  if (left === undefined) return;
  const files = suffixes.map((suffix) => path + suffix);
  throw new Error(
    `it is missing, but ${path}${left} is there: put the database back, or remove ${files.join(' and ')} to begin with an empty one`,
  );
}

/** SQLite calls it an I/O error where there is no space for its index of the write-ahead log. */
export function isDiskFull(path: string): boolean {
  try {
    return statfsSync(dirname(resolve(path))).bavail === 0;
  } catch {
    return false;
  }
}

function stat(path: string): BigIntStats | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false });
}
