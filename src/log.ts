import { pino } from 'pino';
import type { Config } from './config.ts';
import { Output } from './output.ts';

export type Log = Pick<ReturnType<typeof createLog>, 'error' | 'warn' | 'info' | 'debug' | 'countDropped'>;

/** Writes one JSON object per line to standard error; standard output is for people. */
export function createLog(level: Config['logLevel']) {
  const output = new Output();
  return Object.assign(pino({ level, base: null }, output), { countDropped: () => output.dropped });
}
