import type { Run } from '../rounds.ts';
import type { Found } from '../table.ts';
import { counts } from './counts.ts';
import { bursts, delivery } from './delivery.ts';
import { latency } from './latency.ts';
import { memory } from './memory.ts';
import { rooms } from './rooms.ts';
import { selections } from './selections.ts';

/** Every row of the bench, by the name that chooses it. */
export const rows: Record<string, (run: Run) => Promise<Found>> = {
  delivery,
  bursts,
  counts,
  selections,
  rooms,
  memory,
  latency,
};
