import type { Database } from '../../data/database.ts';
import { deleteRoomRows, findDeletedRoom, findErasedAccount, hasUnfinishedDeletions } from '../../data/deletions.ts';
import type { Bus } from '../bus/bus.ts';
import { commitChange } from '../changes.ts';
import { eraseRows } from './erasure.ts';
import { rowsPerStep, runInSteps } from './steps.ts';

const everyMs = 60_000;
const retryMs = 1_000;

/**
 * Deletes the rows of deleted accounts and rooms in the background. Once a minute it also continues what another process
 * has left.
 */
export class Deletions {
  readonly #database: Database;
  readonly #bus: Bus;
  readonly #onError: (error: unknown) => void;
  readonly #stopping = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> | undefined;
  #isDue = false;
  #retry: NodeJS.Timeout | undefined;

  constructor(database: Database, bus: Bus, onError: (error: unknown) => void) {
    this.#database = database;
    this.#bus = bus;
    this.#onError = onError;
    this.#timer = setInterval(() => this.resume(), everyMs).unref();
  }

  /** Starts to delete. While it does so already, it finds new rows by itself. */
  start(): void {
    if (this.#stopping.signal.aborted) return;
    this.#isDue = true;
    this.#running ??= this.#run();
  }

  /** Starts to delete if any process has left rows. */
  async resume(): Promise<void> {
    try {
      if (await hasUnfinishedDeletions(this.#database.checks)) this.start();
    } catch (error) {
      this.#onError(error);
    }
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    clearTimeout(this.#retry);
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    try {
      while (this.#isDue && !this.#stopping.signal.aborted) {
        this.#isDue = false;
        await runInSteps(() => this.#step(rowsPerStep[this.#database.kind]), this.#stopping.signal);
      }
    } catch (error) {
      this.#onError(error);
      // Such as a lock that was not free in time.
      this.#retry = setTimeout(() => this.start(), retryMs).unref();
    } finally {
      this.#running = undefined;
    }
  }

  /** Accounts come first, because a person waits for the erasure of their data. */
  async #step(limit: number): Promise<boolean> {
    return (await this.#eraseAccount(limit)) === 'none' && (await this.#deleteRoom(limit)) === 'none';
  }

  async #eraseAccount(limit: number): Promise<Progress> {
    const { result } = await commitChange(this.#database, this.#bus, async (db, record): Promise<Progress> => {
      const account = await findErasedAccount(db);
      if (!account) return 'none';
      return (await eraseRows(db, record, account, limit)) ? 'done' : 'rows remain';
    });
    if (result === 'done') await this.#database.purge();
    return result;
  }

  #deleteRoom(limit: number): Promise<Progress> {
    return this.#database.transaction(async (db) => {
      const roomId = await findDeletedRoom(db);
      if (roomId === undefined) return 'none';
      return (await deleteRoomRows(db, roomId, limit)) ? 'done' : 'rows remain';
    });
  }
}

/** `none`: there was nothing to delete. */
type Progress = 'none' | 'rows remain' | 'done';
