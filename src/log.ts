import { pino } from 'pino';
import type { Config } from './config.ts';

export type Log = Pick<ReturnType<typeof createLog>, 'error' | 'warn' | 'info' | 'debug'>;

/** One JSON object a line, to standard error: standard output is for people. */
export function createLog(level: Config['logLevel']) {
  return pino({ level, base: null }, pino.destination({ dest: 2, sync: true }));
}
