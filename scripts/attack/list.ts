import type { Attack } from './attack.ts';
import { historyAttacks } from './attacks/history.ts';
import { retainedAttacks } from './attacks/retained.ts';

/** In the order in which they run. */
export const attacks: readonly Attack[] = [...historyAttacks, ...retainedAttacks];
