import { hostname } from 'node:os';
import { pino, stdSerializers, stdTimeFunctions } from 'pino';
import type { Config } from '../config/config.ts';
import { isPostgresUrl } from '../config/database-url.ts';
import { Output } from './output.ts';
import { createReportLimit } from './recent-reports.ts';

export type Log = Pick<ReturnType<typeof createLog>, 'error' | 'warn' | 'info' | 'debug' | 'countDropped'>;

/** Writes one JSON object per line to standard error; standard output is for people. Each line names the `node`, if any. */
export function createLog(
  level: Config['logLevel'],
  node?: string,
  output: Pick<Output, 'write' | 'dropped'> = new Output(),
) {
  const base = node === undefined ? null : { node };
  const options = { level, base, timestamp: stdTimeFunctions.isoTime, serializers: { err: toLoggedError } };
  return Object.assign(pino(options, output), { countDropped: () => output.dropped });
}

/** The serializer of pino marks the error, and so throws for one that is frozen. */
function toLoggedError(error: unknown): unknown {
  if (!(error instanceof Error && Object.isFrozen(error))) return stdSerializers.err(error as Error);
  const { name: type, message, stack } = error;
  return { type, message, stack };
}

/** The name of this node: the configured name, or the host and process. */
export function nodeNameOf({ nodeName }: Pick<Config, 'nodeName'>): string {
  return nodeName ?? `${hostname()}/${process.pid}`;
}

/** The name of this node in the log, if it is configured or processes may share a database. */
export function loggedNameOf(
  config: Pick<Config, 'nodeName' | 'databaseUrl' | 'redisUrl' | 'workers'>,
): string | undefined {
  const isShared = config.redisUrl !== undefined || isPostgresUrl(config.databaseUrl) || config.workers !== 1;
  return isShared || config.nodeName !== undefined ? nodeNameOf(config) : undefined;
}

/** A handler for the failures of work that is repeated by itself, such as once a second while the database is away. */
export function logFailures(log: Pick<Log, 'error'>, message: string): (error: unknown) => void {
  const isDue = createReportLimit();
  return (error) => {
    if (isDue(String(error))) log.error({ err: error }, message);
  };
}
