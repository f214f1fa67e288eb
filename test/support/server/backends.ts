import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { PostgresCluster, postgresPrograms } from '../database/postgres-cluster.ts';
import { newSessionKey } from '../database/test-database.ts';
import { hasRedis, RedisServer } from '../rooms/redis-server.ts';
import { type Settings, scratchFolder } from './postroom.ts';

/** For the titles of tests. Tests of a bus that is missing are skipped. */
export const postgresBus = {
  name: postgresPrograms ? "PostgreSQL's notifications" : 'PostgreSQL, which is not installed here',
  isMissing: postgresPrograms === undefined,
};
export const redisBus = {
  name: hasRedis ? 'Redis' : 'Redis, which is not installed here',
  isMissing: !hasRedis,
};

/** Both throw if the server is not installed. */
export interface Backends {
  readonly cluster: PostgresCluster;
  readonly redis: RedisServer;
}

/** Starts a PostgreSQL server and a Redis for the tests of one file, if they are installed. */
export function useBackends(): Backends {
  let cluster: PostgresCluster | undefined;
  let redis: RedisServer | undefined;
  beforeAll(async () => {
    if (postgresPrograms) cluster = await PostgresCluster.start();
    if (hasRedis) redis = await RedisServer.launch();
  });
  afterAll(async () => {
    await cluster?.remove();
    await redis?.stop();
  });
  return {
    get cluster() {
      return startedOrThrow(cluster);
    },
    get redis() {
      return startedOrThrow(redis);
    },
  };
}

function startedOrThrow<Server>(server: Server | undefined): Server {
  if (server === undefined) throw new Error('The server is not installed, or it has not been started yet.');
  return server;
}

/** The buses between nodes. `settings` are those of nodes on a new database. */
export function busesBetweenNodes(backends: Backends) {
  const onPostgres = async (): Promise<Settings> => {
    const { cluster } = backends;
    return { DATABASE_URL: cluster.url(await cluster.createDatabase()), SESSION_KEY: newSessionKey() };
  };
  const onRedis = async (): Promise<Settings> => ({
    DATABASE_URL: `sqlite:${join(scratchFolder(), 'postroom.db')}`,
    REDIS_URL: backends.redis.url,
  });
  return [
    { ...postgresBus, kind: 'postgres', settings: onPostgres },
    { ...redisBus, kind: 'redis', settings: onRedis },
  ];
}
