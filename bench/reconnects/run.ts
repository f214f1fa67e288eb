import type { servers } from './servers.ts';

/** What all rows of a run share. */
export interface Run {
  servers: readonly (typeof servers)[keyof typeof servers][];
  clients?: number;
  seconds?: number;
}
