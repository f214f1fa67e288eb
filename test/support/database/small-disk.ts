import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/* A small file system that a test fills. It needs the right to mount. */

const mounts: string[] = [];

/** Mounts a file system of this size; undefined without the right to do so. */
export function mountDisk(size = '4m'): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'postroom-disk-'));
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder]).status === 0) {
    mounts.push(folder);
    return folder;
  }
  rmSync(folder, { recursive: true, force: true });
  return undefined;
}

/** Call it after all tests of a file. */
export function unmountDisks(): void {
  for (const folder of mounts.splice(0)) {
    spawnSync('umount', ['-l', folder]);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Fills the free space; the returned function frees it. */
export function fillDisk(folder: string): () => void {
  const file = join(folder, 'filler');
  const descriptor = openSync(file, 'w');
  const release = () => rmSync(file, { force: true });
  onTestFinished(release);
  for (const length of [65_536, 4_096, 1]) {
    try {
      for (;;) writeSync(descriptor, Buffer.alloc(length));
    } catch {
      // There is no space for another block of this length.
    }
  }
  closeSync(descriptor);
  return release;
}
