import { createServer } from 'node:http';
import { readConfig } from '../../../src/config.ts';
import { createMemoryBus } from '../../../src/live/bus/memory.ts';
import { createLog } from '../../../src/log.ts';
import { startServer } from '../../../src/server.ts';
import { listen } from './peer.ts';
import { broadcast, openRooms } from './raw-ws-rooms.ts';

/* The floor behind the same mutation: Postroom's process, in which raw ws broadcasts as soon as the bus tells of a commit. */

const memory = createMemoryBus();
const bus: typeof memory = {
  ...memory,
  publish(message) {
    if (message.type === 'roomChanged') broadcast(message.roomId);
    memory.publish(message);
  },
};
const config = readConfig();
const { url } = await startServer(config, createLog(config.logLevel), { bus });

/** Tells where Postroom is. */
const server = createServer((_, response) => response.end(url));
openRooms(server);
listen(server);
