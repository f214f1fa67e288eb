import { writeCosts } from '../capacity/costs.ts';
import { busNames } from '../nodes/buses.ts';
import type { Table } from '../support/table.ts';
import { Simulation, withServers } from './simulation.ts';

const rooms = 1_000;
/** A tenth of the nodes follows each room. */
const followedShare = 0.1;
const maxRate = 12_800;
const comparedRate = 200;
/** A bus that delivers later does not carry the rate. */
const maxDelayMs = 1_000;

/** How many events a bus carries: the rate is doubled until they come late. */
export async function measureBuses({ nodes, seconds }: { nodes: number; seconds: number }): Promise<Table> {
  const rows: Record<string, string>[] = [];
  const costs = { NOTIFY: new Map<number, number>(), Redis: new Map<number, number>() };
  const pings = { NOTIFY: 0, Redis: 0 };
  await withServers(async (servers) => {
    for (const bus of busNames)
      for (const count of [Math.max(2, nodes / 10), nodes]) {
        const simulation = await Simulation.start(servers, bus, count);
        await simulation.send({ type: 'follow', rooms, followers: Math.max(1, count * followedShare) });
        await simulation.send({ type: 'events', perSecond: comparedRate, seconds: 1, rooms });
        const idle = await simulation.send({ type: 'wait', seconds });
        // Each node publishes a ping in each second, which all nodes receive.
        pings[bus] = idle.cpuMicros / seconds / count ** 2;
        rows.push({
          bus,
          nodes: String(count),
          'events/s': '0: only pings',
          'received/s by all nodes': '',
          lost: '',
          'delivered to followers': '',
          'p50, p99 ms': '',
          'server, µs per event': `${(idle.serverMicros / seconds / count).toFixed(0)} per ping`,
          'node, µs per received event': `${pings[bus].toFixed(1)} per ping`,
        });
        for (let perSecond = comparedRate; perSecond <= maxRate; perSecond *= 2) {
          const figures = await simulation.send({ type: 'events', perSecond, seconds, rooms });
          const { published, received, delivered, lost, p50, p99, serverMicros, cpuMicros } = figures;
          const perMessage = serverMicros / published;
          // A notification reaches all nodes, a message of Redis those that follow its room.
          const receivers = received / published;
          if (perSecond === comparedRate) costs[bus].set(receivers, perMessage);
          rows.push({
            bus,
            nodes: String(count),
            'events/s': (published / seconds).toFixed(0),
            'received/s by all nodes': (received / seconds).toFixed(0),
            lost: String(lost),
            'delivered to followers': String(delivered),
            'p50, p99 ms': `${p50.toFixed(1)}, ${p99.toFixed(0)}`,
            'server, µs per event': perMessage.toFixed(0),
            'node, µs per received event': (cpuMicros / received).toFixed(1),
          });
          if (!(p50 < maxDelayMs)) break;
        }
        await simulation.stop();
      }
  });
  const [notify, redis] = [lineThrough(costs.NOTIFY), lineThrough(costs.Redis)];
  writeCosts('many-nodes bus', {
    'notify.message': { value: notify.base, unit: 'µs' },
    'notify.listener': { value: notify.each, unit: 'µs' },
    'notify.ping': { value: pings.NOTIFY, unit: 'µs' },
    'redis.ping': { value: pings.Redis, unit: 'µs' },
    'redis.publish': { value: redis.base, unit: 'µs' },
    'redis.receiver': { value: redis.each, unit: 'µs' },
  });
  const about = `Simulated nodes in two processes; ${rooms} rooms, each followed by a tenth of the nodes. All share the processors of the machine.`;
  return { title: 'Events between many nodes', about, rows };
}

/** The cost of an event without receivers, and that of each receiver. */
function lineThrough(measured: ReadonlyMap<number, number>): { base: number; each: number } {
  const [[few = 0, fewMicros = 0] = [], [many = 0, manyMicros = 0] = []] = [...measured];
  const each = Math.max(0, (manyMicros - fewMicros) / (many - few));
  return { base: Math.max(0, fewMicros - each * few), each };
}
