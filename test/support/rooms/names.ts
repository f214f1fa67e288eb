import { randomUUID } from 'node:crypto';

/** A room name that no other test uses in any file. */
export function scratchName(): string {
  return `room ${randomUUID()}`;
}
