import { pino } from 'pino';
import type { Config } from './config.ts';
import { Output } from './output.ts';
import { RecentReports } from './recent-reports.ts';

export type Log = Pick<ReturnType<typeof createLog>, 'error' | 'warn' | 'info' | 'debug' | 'countDropped'>;

/** Writes one JSON object per line to standard error; standard output is for people. */
export function createLog(level: Config['logLevel']) {
  const output = new Output();
  return Object.assign(pino({ level, base: null }, output), { countDropped: () => output.dropped });
}

/** A handler for the failures of work that is repeated by itself, such as once a second while the database is away. */
export function logFailures(log: Pick<Log, 'error'>, message: string): (error: unknown) => void {
  const recent = new RecentReports();
  return (error) => {
    if (recent.isDue(String(error))) log.error({ err: error }, message);
  };
}
