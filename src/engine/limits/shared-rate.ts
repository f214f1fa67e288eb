import type { Config } from '../../config/config.ts';
import type { SessionKeys } from '../../identity/session/session-key.ts';
import type { Log } from '../../log/log.ts';
import type { RedisWindows } from './redis-windows.ts';

/** The rate that all nodes count together; undefined if this node counts by itself. */
export async function openSharedRate(
  { redisUrl, rate: { limit, windowSeconds } }: Pick<Config, 'redisUrl' | 'rate'>,
  keys: SessionKeys,
  log: Pick<Log, 'warn'>,
): Promise<RedisWindows | undefined> {
  if (redisUrl === undefined || limit === 0) return undefined;
  // Redis's client is loaded only if it is used: it has more files than the rest of the server.
  const windows = await import('./redis-windows.ts');
  return windows.RedisWindows.open({
    url: redisUrl,
    windowSeconds,
    // All nodes have the same session key, and other installations have another.
    prefix: `postroom:rate:${keys.id}:`,
    log,
  });
}
