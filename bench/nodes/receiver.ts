import { parentPort, workerData } from 'node:worker_threads';
import { roomTopic } from '../../src/live/bus/bus.ts';
import { percentile } from '../support/statistics.ts';
import { openBus } from './buses.ts';
import { now, roomIds } from './commits.ts';

/* The other node: a thread that receives the events of all rooms, and reports their delay when it is asked. */

const { name, databaseUrl, redisUrl } = workerData;
const bus = await openBus(name, databaseUrl, redisUrl);
let delays: number[] = [];
for (const roomId of roomIds) {
  await bus.subscribe(roomTopic(roomId), (message) => {
    if (message.type === 'roomChanged') delays.push((now() - message.event.at) / 1e6);
  });
}
parentPort?.on('message', (message) => {
  if (message === 'close') return void bus.close().then(() => parentPort?.close());
  parentPort?.postMessage({ count: delays.length, p50: percentile(delays, 0.5), p99: percentile(delays, 0.99) });
  delays = [];
});
parentPort?.postMessage('ready');
