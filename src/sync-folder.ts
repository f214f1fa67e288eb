import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Flushes a folder to the disk: only then are the names of its new files, and the removal of others, durable. */
export function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
