import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  linkSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { syncPath } from '../../../common/sync-path.ts';
import { BackupError } from '../../database/backup.ts';

const ownerOnly = 0o600;
/** The codes with which file systems without hard links refuse one, such as FAT and some network mounts. */
const noHardLinks = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];
const endSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** The suffixes of the files that SQLite creates beside a database. */
export const companions = ['-wal', '-shm', '-journal'];

/**
 * A database that is written under a temporary name in the folder of its target, and gets the name of the target only
 * when it is complete and on the disk. Unless that happens it is removed, also when a signal ends the process.
 */
export class Draft implements Disposable {
  readonly path: string;
  readonly #target: string;
  readonly #remove = () => {
    for (const path of [this.path, ...companions.map((suffix) => this.path + suffix)]) rmSync(path, { force: true });
  };

  /** @throws an error of the system if the file cannot be created. */
  constructor(target: string) {
    this.#target = resolveTarget(target);
    // Processes in different containers may have the same id.
    this.path = `${this.#target}.partial-${randomBytes(4).toString('hex')}`;
    process.once('exit', this.#remove);
    for (const signal of endSignals) process.once(signal, exit);
    closeSync(openSync(this.path, 'wx', ownerOnly));
  }

  /** Only the owner may read the file: that of the file that it replaces, or else the user who runs the command. */
  setOwner(): void {
    chmodSync(this.path, ownerOnly);
    const replaced = statSync(this.#target, { throwIfNoEntry: false });
    const { uid, gid } = statSync(this.path);
    if (replaced && (replaced.uid !== uid || replaced.gid !== gid)) chownSync(this.path, replaced.uid, replaced.gid);
  }

  /** @throws BackupError if there is a target that must not be replaced. */
  moveIntoPlace({ mayReplace }: { mayReplace: boolean }): void {
    syncPath(this.path);
    if (mayReplace) renameSync(this.path, this.#target);
    else this.#linkToTarget();
    syncPath(dirname(this.#target));
  }

  [Symbol.dispose](): void {
    this.#remove();
    process.off('exit', this.#remove);
    for (const signal of endSignals) process.off(signal, exit);
  }

  /** Another program may have created the target after it was found missing; a rename would replace it. */
  #linkToTarget(): void {
    try {
      linkSync(this.path, this.#target);
    } catch (error) {
      if (existsSync(this.#target)) throw new BackupError(`${this.#target} was created by another program meanwhile`);
      if (!noHardLinks.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
      // Reserving the name by an empty file would leave that file after a crash.
      renameSync(this.path, this.#target);
    }
  }
}

/** A symbolic link stays, and its target is replaced. */
export function resolveTarget(path: string): string {
  return existsSync(path) ? realpathSync(path) : resolve(path);
}

/** Calls the exit handlers, unlike the default for a signal. */
function exit(): void {
  process.exit(1);
}
