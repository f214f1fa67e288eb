import { randomUUID } from 'node:crypto';

/** A name that no other test uses, of any file. */
export function scratchName(): string {
  return `room ${randomUUID()}`;
}
