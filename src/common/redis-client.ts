import { createClient } from 'redis';

const connectTimeoutMs = 2_000;

/** A client that neither connects again by itself nor keeps commands while it is not connected. */
export function createRedisClient(url: string, name: string) {
  return createClient({
    url,
    name,
    socket: { reconnectStrategy: false, connectTimeout: connectTimeoutMs },
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
  });
}
