import { median } from '../../support/statistics.ts';
import { type BusKind, Installation, type Load } from '../installation.ts';
import type { Measured, Run } from './run.ts';

const roomCount = 1_000;
const eventsPerSecond = 250;
const idleSeconds = 10;

/** What a node does for the events of another: node 1 receives all mutations, node 2 has one subscriber in each of half of the rooms. */
export async function measureBus(bus: Exclude<BusKind, 'none'>, { rounds, seconds }: Run): Promise<Measured> {
  const installation = await Installation.start({ bus, nodes: 2 });
  try {
    const all = await installation.createRooms(2 * roomCount);
    const followed = all.slice(0, roomCount);
    await installation.connect(followed, 1, { node: 1 });
    await installation.run({ seconds: 3, eventsPerSecond, rooms: followed, writer: 0 });
    const idle = await installation.run({ seconds: idleSeconds, eventsPerSecond: 0, rooms: all });
    const measure = async (rooms: readonly string[]) => {
      const loads = [];
      for (let round = 0; round < rounds; round += 1)
        loads.push(await installation.run({ seconds, eventsPerSecond, rooms, writer: 0 }));
      return median(loads.map((load) => ((coresOf(load) - coresOf(idle)) * 1e6) / load.eventsPerSecond));
    };
    const others = await measure(all.slice(roomCount));
    const executed = await measure(followed);
    return {
      // With one delivery, which the model subtracts.
      [`${bus}.receivedEvent`]: { value: executed, unit: 'µs' },
      ...(bus === 'notify' && { 'notify.receivedOther': { value: others, unit: 'µs' } }),
    };
  } finally {
    await installation.stop();
  }
}

/** Of node 2. */
function coresOf({ nodeCores }: Load): number {
  return nodeCores[1] ?? Number.NaN;
}
