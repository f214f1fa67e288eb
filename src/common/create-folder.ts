import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates the folder, and those above it. `mkdirSync` with `recursive` never returns where the system refuses with ENOENT, as
 * in /proc, because it then creates the folder above again. @throws an error of the system
 */
export function createFolder(folder: string): void {
  if (existsSync(folder)) return;
  createFolder(dirname(folder));
  mkdirSync(folder);
}
