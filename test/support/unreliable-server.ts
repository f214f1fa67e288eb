import { once } from 'node:events';
import { readConfig } from '../../src/config.ts';
import { createMemoryBus } from '../../src/live/bus/memory.ts';
import { createLog } from '../../src/log.ts';
import { startServer } from '../../src/server.ts';
import { type BusFault, busFaults, createRandom } from './unreliable-bus.ts';

/* Runs the program on a faulty bus. Usage: unreliable-server.ts FAULT SEED */

const [fault = 'none', seed = '1'] = process.argv.slice(2);
const bus = createMemoryBus();
const publish = busFaults[fault as BusFault](bus, createRandom(Number(seed)));
const config = readConfig();
const server = await startServer(config, createLog(config.logLevel), { bus: { ...bus, publish } });
process.stdout.write(`Postroom is at ${server.url}/graphql\n`);
await once(process, 'SIGTERM');
await server.close();
