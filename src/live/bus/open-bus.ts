import type { Config } from '../../config.ts';
import type { Database } from '../../data/database.ts';
import { isPostgresUrl } from '../../data/open-database.ts';
import { findDatabaseId } from '../../data/settings.ts';
import type { Bus, BusOptions } from './bus.ts';
import { createMemoryBus } from './memory.ts';
import { openPostgresBus } from './postgres.ts';
import { openRedisBus } from './redis.ts';

/** Redis if there is one; else PostgreSQL, if it is the database; else the bus of this process alone. */
export async function openBus(
  { redisUrl, databaseUrl }: Pick<Config, 'redisUrl' | 'databaseUrl'>,
  database: Database,
  options: BusOptions,
): Promise<Bus> {
  if (redisUrl) return openRedisBus(redisUrl, { ...options, databaseId: await findDatabaseId(database) });
  return isPostgresUrl(databaseUrl) ? openPostgresBus(databaseUrl, options) : createMemoryBus(options);
}
