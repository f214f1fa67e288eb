import { setTimeout as wait } from 'node:timers/promises';
import { type Bus, roomTopic } from '../../src/live/bus/bus.ts';
import { openLocalBus, openLocalExchange } from '../../src/live/bus/local.ts';
import { createEvent, now, roomIds } from '../nodes/commits.ts';
import { percentile } from '../support/statistics.ts';
import { answerCommands } from '../support/worker.ts';

/* A process that is the parent of workers, or a worker that follows all rooms. */

export type Command =
  | { type: 'exchange'; path: string }
  | { type: 'join'; path: string }
  /** With `isDryRun` it creates the events, and does not publish them. */
  | { type: 'publish'; ratePerSecond: number; seconds: number; isDryRun: boolean }
  /** Begins a new measurement. */
  | { type: 'report' };

export interface Reply {
  /** CPU time since the last report. */
  cpuMicros: number;
  received: number;
  p50Ms: number;
  p99Ms: number;
}

let bus: Bus | undefined;
let usage = process.cpuUsage();
let delays: number[] = [];
let published = 0;

answerCommands<Command, Reply>(async (command) => {
  if (command.type === 'exchange') await openLocalExchange({ path: command.path });
  if (command.type === 'join') await join(command.path);
  if (command.type === 'publish') await publish(command);
  const { user, system } = process.cpuUsage(usage);
  const reply = {
    cpuMicros: user + system,
    received: delays.length,
    p50Ms: percentile(delays, 0.5),
    p99Ms: percentile(delays, 0.99),
  };
  if (command.type === 'report') {
    usage = process.cpuUsage();
    delays = [];
  }
  return reply;
});

async function join(path: string): Promise<void> {
  const onError = (error: unknown) => {
    throw error;
  };
  bus = await openLocalBus({ path }, { onError });
  for (const roomId of roomIds) {
    await bus.subscribe(roomTopic(roomId), (message) => {
      if (message.type === 'roomChanged') delays.push((now() - message.event.at) / 1e6);
    });
  }
}

/** Each event at its time. */
async function publish({ ratePerSecond, seconds, isDryRun }: Extract<Command, { type: 'publish' }>): Promise<void> {
  const startedAt = performance.now();
  for (let index = 0; index < ratePerSecond * seconds; index += 1) {
    const early = startedAt + (index * 1_000) / ratePerSecond - performance.now();
    if (early > 0) await wait(early);
    published += 1;
    const event = createEvent(roomIds[index % roomIds.length] ?? '', published);
    if (!isDryRun) bus?.publish(event);
  }
}
