import { hostname } from 'node:os';
import { pino, stdTimeFunctions } from 'pino';
import type { Config } from '../config/config.ts';
import { isPostgresUrl } from '../config/database-url.ts';
import { Output } from './output.ts';
import { RecentReports } from './recent-reports.ts';

export type Log = Pick<ReturnType<typeof createLog>, 'error' | 'warn' | 'info' | 'debug' | 'countDropped'>;

/** Writes one JSON object per line to standard error; standard output is for people. Each line names the `node`, if any. */
export function createLog(
  level: Config['logLevel'],
  node?: string,
  output: Pick<Output, 'write' | 'dropped'> = new Output(),
) {
  const options = { level, base: node === undefined ? null : { node }, timestamp: stdTimeFunctions.isoTime };
  return Object.assign(pino(options, output), { countDropped: () => output.dropped });
}

/** The name of this node: the configured name, or the host and process. */
export function nodeNameOf({ nodeName }: Pick<Config, 'nodeName'>): string {
  return nodeName ?? `${hostname()}/${process.pid}`;
}

/** The name of this node in the log, if it is configured or nodes may share a database. */
export function loggedNameOf(config: Pick<Config, 'nodeName' | 'databaseUrl' | 'redisUrl'>): string | undefined {
  const isShared = config.redisUrl !== undefined || isPostgresUrl(config.databaseUrl);
  return isShared || config.nodeName !== undefined ? nodeNameOf(config) : undefined;
}

/** A handler for the failures of work that is repeated by itself, such as once a second while the database is away. */
export function logFailures(log: Pick<Log, 'error'>, message: string): (error: unknown) => void {
  const recent = new RecentReports();
  return (error) => {
    if (recent.isDue(String(error))) log.error({ err: error }, message);
  };
}
