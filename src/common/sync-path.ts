import { closeSync, fsyncSync, openSync } from 'node:fs';

/**
 * Flushes a folder or a file to the disk: only after that of a folder are the names of its new files, and the removal of others,
 * durable.
 */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
