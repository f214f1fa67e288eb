import type { TableWithTargets } from '../../support/table.ts';
import type { Run } from '../rounds.ts';
import { counts } from './counts.ts';
import { bursts, delivery } from './delivery.ts';
import { latency } from './latency.ts';
import { memory } from './memory.ts';
import { rooms } from './rooms.ts';
import { selections } from './selections.ts';

/** The rows by their names on the command line. */
export const rows: Record<string, (run: Run) => Promise<TableWithTargets>> = {
  delivery,
  bursts,
  counts,
  selections,
  rooms,
  memory,
  latency,
};
