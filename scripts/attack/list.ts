import type { Attack } from './attack.ts';
import { answerSizeAttacks } from './attacks/answer-size.ts';
import { burstAttacks } from './attacks/bursts.ts';
import { clockAttacks } from './attacks/clock.ts';
import { costlySubscriptionAttacks } from './attacks/costly-subscriptions.ts';
import { frameAttacks } from './attacks/frames.ts';
import { freeReadAttacks } from './attacks/free-reads.ts';
import { historyAttacks } from './attacks/history.ts';
import { lateWriteAttacks } from './attacks/late-writes.ts';
import { logAttacks } from './attacks/log.ts';
import { longReadAttacks } from './attacks/long-reads.ts';
import { pipelinedAttacks } from './attacks/pipelined.ts';
import { processAttacks } from './attacks/process.ts';
import { rebindingAttacks } from './attacks/rebinding.ts';
import { retainedAttacks } from './attacks/retained.ts';
import { signInAttacks } from './attacks/sign-in.ts';
import { storageAttacks } from './attacks/storage.ts';

/** In the order in which they run. */
export const attacks: readonly Attack[] = [
  ...historyAttacks,
  ...retainedAttacks,
  ...pipelinedAttacks,
  ...frameAttacks,
  ...burstAttacks,
  ...costlySubscriptionAttacks,
  ...freeReadAttacks,
  ...longReadAttacks,
  ...answerSizeAttacks,
  ...lateWriteAttacks,
  ...storageAttacks,
  ...logAttacks,
  ...clockAttacks,
  ...rebindingAttacks,
  ...signInAttacks,
  ...processAttacks,
];
