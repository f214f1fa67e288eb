import { writeCosts } from '../capacity/costs.ts';
import { type BusName, busNames } from '../nodes/buses.ts';
import type { Table } from '../support/table.ts';
import { Simulation, withServers } from './simulation.ts';

const rooms = 1_000;
/** A tenth of the nodes follows each room. */
const followedShare = 0.1;
const rates = [200, 400, 800, 1_600, 3_200, 6_400, 12_800];
/** If half of the events arrive later, the bus does not carry the rate. */
const maxDelayMs = 1_000;
/** The costs are those of a rate of which half arrives within this time. */
const promptMs = 100;
/** In which the last events of a measurement arrive. */
const drainSeconds = 1;

interface Sample {
  nodes: number;
  perSecond: number;
  receivedPerSecond: number;
  lost: number;
  p50: number;
  p99: number;
  /** CPU time without that of pings. */
  serverMicrosPerEvent: number;
  nodeMicrosPerReceived: number;
  receivers: number;
}

interface Measured {
  samples: Sample[];
  /** CPU time of the server for a ping, and of a node for a ping of another. */
  serverMicrosPerPing: number;
  nodeMicrosPerPing: number;
}

/** How many events a bus carries: the rate is doubled until they come late. */
export async function measureBuses(run: { nodes: number; seconds: number }): Promise<Table> {
  const rows: Record<string, string>[] = [];
  await withServers(async (servers) => {
    for (const bus of busNames) {
      const sizes: Measured[] = [];
      for (const nodes of [Math.max(2, run.nodes / 10), run.nodes]) {
        const simulation = await Simulation.start(servers, bus, nodes);
        const measured = await measure(simulation, run.seconds);
        await simulation.stop();
        sizes.push(measured);
        rows.push(...describe(bus, nodes, measured));
      }
      const [few, many] = sizes;
      if (few && many) record(bus, few, many);
    }
  });
  const about = `Simulated nodes in two processes; ${rooms} rooms, each followed by a tenth of the nodes. All share the processors of the machine.`;
  return { title: 'Events between many nodes', about, rows };
}

async function measure(simulation: Simulation, seconds: number): Promise<Measured> {
  const { nodes } = simulation;
  await simulation.send({ type: 'follow', rooms, followers: Math.max(1, nodes * followedShare) });
  await simulation.send({ type: 'events', perSecond: rates[0] ?? 0, seconds: 1, rooms });
  // Each node publishes a ping in each second, which all nodes receive.
  const idle = await simulation.send({ type: 'wait', seconds });
  const pingsOf = (micros: number) => (micros * (seconds + drainSeconds)) / seconds;
  const samples: Sample[] = [];
  for (const perSecond of rates) {
    const figures = await simulation.send({ type: 'events', perSecond, seconds, rooms });
    const { published, received, lost, p50, p99 } = figures;
    samples.push({
      nodes,
      perSecond,
      receivedPerSecond: received / seconds,
      lost,
      p50,
      p99,
      serverMicrosPerEvent: (figures.serverMicros - pingsOf(idle.serverMicros)) / published,
      nodeMicrosPerReceived: (figures.cpuMicros - pingsOf(idle.cpuMicros)) / received,
      receivers: received / published,
    });
    if (!(p50 < maxDelayMs)) break;
  }
  return {
    samples,
    serverMicrosPerPing: idle.serverMicros / seconds / nodes,
    nodeMicrosPerPing: idle.cpuMicros / seconds / nodes ** 2,
  };
}

function describe(bus: BusName, nodes: number, measured: Measured): Record<string, string>[] {
  const { samples, serverMicrosPerPing, nodeMicrosPerPing } = measured;
  const shared = { bus, nodes: String(nodes) };
  return [
    {
      ...shared,
      'events/s': 'only pings',
      'received/s by all nodes': String(nodes ** 2),
      lost: '0',
      'p50, p99 ms': '',
      'server, µs per event': `${serverMicrosPerPing.toFixed(0)} per ping`,
      'node, µs per received event': `${nodeMicrosPerPing.toFixed(1)} per ping`,
    },
    ...samples.map((sample) => ({
      ...shared,
      'events/s': String(sample.perSecond),
      'received/s by all nodes': sample.receivedPerSecond.toFixed(0),
      lost: String(sample.lost),
      'p50, p99 ms': `${sample.p50.toFixed(1)}, ${sample.p99.toFixed(0)}`,
      'server, µs per event': sample.serverMicrosPerEvent.toFixed(0),
      'node, µs per received event': sample.nodeMicrosPerReceived.toFixed(1),
    })),
  ];
}

/** The cost of an event without receivers, and that of each receiver, at the highest rate that arrives promptly with both numbers of nodes. */
function record(bus: BusName, few: Measured, many: Measured): void {
  const arePrompt = (perSecond: number) =>
    [few, many].every(({ samples }) => samples.some((each) => each.perSecond === perSecond && each.p50 < promptMs));
  const rate = rates.findLast(arePrompt) ?? rates[0];
  const [one, other] = [few, many].map(({ samples }) => samples.find(({ perSecond }) => perSecond === rate));
  if (one === undefined || other === undefined) return;
  const micros = (value: number) => ({ value: Math.max(0, value), unit: 'µs' });
  const each = (other.serverMicrosPerEvent - one.serverMicrosPerEvent) / (other.receivers - one.receivers);
  const names = bus === 'NOTIFY' ? ['notify.message', 'notify.listener'] : ['redis.publish', 'redis.receiver'];
  const [message = '', receiver = ''] = names;
  writeCosts('many-nodes bus', {
    [message]: micros(one.serverMicrosPerEvent - Math.max(0, each) * one.receivers),
    [receiver]: micros(each),
    [`${bus.toLowerCase()}.ping`]: micros(many.nodeMicrosPerPing),
  });
}
