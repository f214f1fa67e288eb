import type { Config } from '../../config/config.ts';
import { isPostgresUrl } from '../../config/database-url.ts';
import type { Database } from '../../data/database/database.ts';
import { findOrCreateDatabaseId } from '../../data/database/settings.ts';
import { type Bus, type BusOptions, BusUnreachable } from './bus.ts';
import { openLocalBus } from './local.ts';
import { createMemoryBus } from './memory.ts';
import { openPostgresBus } from './postgres.ts';
import type { RedisBusOptions } from './redis.ts';

/** Redis if there is one; else PostgreSQL, if it is the database; else that of all workers of one parent, whose path is `localBus`, or of this process alone. */
export async function openBus(
  { redisUrl, databaseUrl }: Pick<Config, 'redisUrl' | 'databaseUrl'>,
  database: Database,
  options: BusOptions,
  localBus: string | undefined,
): Promise<Bus> {
  if (redisUrl) return openRedisBus(redisUrl, { ...options, databaseId: await findOrCreateDatabaseId(database) });
  if (isPostgresUrl(databaseUrl)) return openPostgresBus(databaseUrl, options);
  return localBus === undefined ? createMemoryBus(options) : openLocalBus({ path: localBus }, options);
}

/** Finds out whether the bus answers. Returns its name for the operator. @throws BusUnreachable */
export async function probeBus({ redisUrl, databaseUrl }: Pick<Config, 'redisUrl' | 'databaseUrl'>): Promise<string> {
  if (!redisUrl && !isPostgresUrl(databaseUrl)) return 'in this process only';
  let fault: string | undefined;
  const options: BusOptions = {
    onError: () => {},
    onDown(reason) {
      fault = reason;
    },
  };
  const bus = await (redisUrl
    ? openRedisBus(redisUrl, { ...options, databaseId: 'probe' })
    : openPostgresBus(databaseUrl, options));
  await bus.close();
  const name = redisUrl ? `Redis ${new URL(redisUrl).host}` : "PostgreSQL's notifications";
  if (fault !== undefined) throw new BusUnreachable(`${name}: ${fault}`);
  return name;
}

/** Redis's client is loaded only if it is used: it has more files than the rest of the server. */
async function openRedisBus(redisUrl: string, options: RedisBusOptions): Promise<Bus> {
  const redis = await import('./redis.ts');
  return redis.openRedisBus(redisUrl, options);
}
