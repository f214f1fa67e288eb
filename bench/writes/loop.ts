import { answerCommands } from '../support/worker.ts';
import type { Recording } from './record.ts';
import { openStore } from './store.ts';

/* A process that stores posts one after the other, without a server. */

export interface Command {
  recording: Recording;
  seconds: number;
}

let store: (() => string) | undefined;

answerCommands<Command, { perSecond: number }>(({ recording, seconds }) => {
  store ??= openStore(recording);
  const startedAt = performance.now();
  let count = 0;
  for (; performance.now() - startedAt < seconds * 1_000; count += 1) store();
  return { perSecond: (count * 1_000) / (performance.now() - startedAt) };
});
