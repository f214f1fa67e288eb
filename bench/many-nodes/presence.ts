import { writeCosts } from '../capacity/costs.ts';
import { busNames } from '../nodes/buses.ts';
import type { Table } from '../support/table.ts';
import { processCount, Simulation, withServers } from './simulation.ts';

const users = [10, 100];
/** Reports are repeated after 5 to 10 s. */
const quietSeconds = 10;

/** A room whose presence all nodes follow, and in which each has users. */
export async function measurePresence({ nodes, seconds }: { nodes: number; seconds: number }): Promise<Table> {
  const rows: Record<string, string>[] = [];
  await withServers(async (servers) => {
    for (const bus of busNames)
      for (const perNode of users) {
        const simulation = await Simulation.start(servers, bus, nodes);
        const idle = await simulation.send({ type: 'wait', seconds });
        await simulation.send({ type: 'enter', users: perNode });
        for (const changes of [false, true]) {
          const length = changes ? seconds : quietSeconds;
          const figures = await simulation.send({ type: 'presence', seconds: length, changes });
          const { published, received, serverMicros, cpuMicros, joinMs, longestJoinMs } = figures;
          rows.push({
            bus,
            'users of a node': String(perNode),
            'returns/s of a node': changes ? '1' : '0',
            'reports/s': (published / length).toFixed(0),
            'received/s by all': (received / length).toFixed(0),
            'server, cores': (serverMicros / 1e6 / length).toFixed(2),
            'one node without joins, cores': ((cpuMicros - joinMs * 1e3) / 1e6 / length / nodes).toFixed(4),
            'joins of one node, cores': (joinMs / 1e3 / length / processCount).toFixed(4),
            'longest join, ms': longestJoinMs.toFixed(1),
          });
          if (bus === 'NOTIFY' && perNode === users[0] && changes)
            writeCosts('many-nodes presence', {
              presenceReport: { value: (cpuMicros - idle.cpuMicros - joinMs * 1e3) / received, unit: 'µs' },
            });
        }
        await simulation.stop();
      }
  });
  const about = `${nodes} simulated nodes in two processes. In each second one user of each node leaves and comes back, or none.`;
  return { title: 'Presence of a room on all nodes', about, rows };
}
