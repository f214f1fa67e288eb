import { createServer } from 'node:http';
import { readConfig } from '../../../src/config/config.ts';
import { createMemoryBus } from '../../../src/live/bus/memory.ts';
import { createLog } from '../../../src/log/log.ts';
import { startServer } from '../../../src/server.ts';
import { listen } from '../../support/listen.ts';
import { broadcast, openRooms } from './raw-ws-rooms.ts';

/* The lower bound of the cost after the same mutation: Postroom's process, in which raw ws broadcasts when the bus publishes a change. */

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

/** Answers with the URL of Postroom. */
const server = createServer((_, response) => response.end(url));
openRooms(server);
listen(server);
