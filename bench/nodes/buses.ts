import type { Bus } from '../../src/live/bus/bus.ts';
import { openPostgresBus } from '../../src/live/bus/postgres.ts';
import { openRedisBus } from '../../src/live/bus/redis.ts';

export const busNames = ['NOTIFY', 'Redis'] as const;
export type BusName = (typeof busNames)[number];

const options = {
  onError: (error: unknown) => {
    throw error;
  },
  onDown: (reason: string) => console.log(`The bus is down: ${reason}`),
};

export function openBus(name: BusName, databaseUrl: string, redisUrl: string): Promise<Bus> {
  if (name === 'NOTIFY') return openPostgresBus(databaseUrl, options);
  return openRedisBus(redisUrl, { ...options, databaseId: new URL(databaseUrl).pathname });
}
