import { pino } from 'pino';
import type { Config } from './config.ts';
import { Output } from './output.ts';

export type Log = Pick<ReturnType<typeof createLog>, 'error' | 'warn' | 'info' | 'debug' | 'countDropped'>;

/** Writes one JSON object per line to standard error; standard output is for people. */
export function createLog(level: Config['logLevel']) {
  const output = new Output(2, { describeDropped });
  return Object.assign(pino({ level, base: null }, output), { countDropped: () => output.dropped });
}

/** A warning in the format of pino, whose level 40 means "warn". */
function describeDropped(count: number): string {
  const warning = { level: 40, time: Date.now(), dropped: count, msg: 'log lines were dropped' };
  return `${JSON.stringify(warning)}\n`;
}
