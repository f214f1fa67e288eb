import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Flushes a file or a folder to the disk. New and removed names are durable only after the flush of their folder. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
