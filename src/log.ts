import { pino } from 'pino';
import type { Config } from './config.ts';
import { Output } from './output.ts';

export type Log = Pick<ReturnType<typeof createLog>, 'error' | 'warn' | 'info' | 'debug' | 'countDropped'>;

/** One JSON object a line, to standard error: standard output is for people. */
export function createLog(level: Config['logLevel']) {
  const output = new Output(2, { describeDropped });
  return Object.assign(pino({ level, base: null }, output), { countDropped: () => output.dropped });
}

/** As pino writes a warning: level 40. */
function describeDropped(count: number): string {
  const warning = { level: 40, time: Date.now(), dropped: count, msg: 'log lines were dropped' };
  return `${JSON.stringify(warning)}\n`;
}
