import type { Table } from '../../support/table.ts';
import { type BusKind, Installation } from '../installation.ts';
import { predict } from '../model.ts';

interface Case {
  subscribers: number;
  rooms: number;
  eventsPerSecond: number;
  nodes: number;
  bus: BusKind;
}

/** A process on a machine with the usual limit of 20,000 files has fewer sockets. */
export const cases: Record<string, Case> = {
  '1000': { subscribers: 1_000, rooms: 20, eventsPerSecond: 150, nodes: 1, bus: 'none' },
  '10000': { subscribers: 10_000, rooms: 500, eventsPerSecond: 200, nodes: 1, bus: 'none' },
  '10000-notify': { subscribers: 10_000, rooms: 500, eventsPerSecond: 150, nodes: 2, bus: 'notify' },
  '10000-redis': { subscribers: 10_000, rooms: 500, eventsPerSecond: 150, nodes: 2, bus: 'redis' },
  '50000': { subscribers: 50_000, rooms: 2_500, eventsPerSecond: 120, nodes: 3, bus: 'notify' },
};

/** Compares what an installation uses with the prediction. */
export async function check(name: string, seconds: number): Promise<Table> {
  const given = cases[name];
  if (given === undefined) throw new Error(`There is no case ${name}. The cases are ${Object.keys(cases).join(', ')}.`);
  const { subscribers, eventsPerSecond, nodes, bus } = given;
  const installation = await Installation.start({ bus, nodes });
  try {
    const rooms = await installation.createRooms(given.rooms);
    await installation.connect(rooms, subscribers / rooms.length);
    await installation.run({ seconds: 5, eventsPerSecond, rooms });
    const load = await installation.run({ seconds, eventsPerSecond, rooms });
    const memory = await installation.memory();
    const hardware = {
      database: bus === 'none' ? 'sqlite' : 'postgres',
      bus: bus === 'redis' ? 'redis' : 'notify',
    } as const;
    const expected = predict(
      { ...given, eventsPerSecond: load.eventsPerSecond, connectsPerSecond: 0, presence: 0 },
      hardware,
      nodes,
    );
    const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
    const row = (quantity: string, predicted: number, measured: number, digits: number) => ({
      quantity,
      predicted: predicted.toFixed(digits),
      measured: measured.toFixed(digits),
      'predicted ÷ measured': (predicted / measured).toFixed(2),
    });
    return {
      title: `${subscribers} subscribers, ${rooms.length} rooms, ${eventsPerSecond} events/s, ${nodes} nodes, ${bus === 'none' ? 'SQLite' : bus}`,
      about: `${seconds} s; ${load.eventsPerSecond.toFixed(0)} events/s were reached.`,
      rows: [
        row('cores of a process', expected.processCores, mean(load.nodeCores), 3),
        row(
          'MiB of a process',
          expected.processBytes / 2 ** 20,
          mean(memory.map(({ rssBytes }) => rssBytes)) / 2 ** 20,
          0,
        ),
        row('kB/s to the clients', (expected.sentBytesOfProcess * nodes) / 1e3, load.sentBytes / 1e3, 0),
        ...(bus === 'none' ? [] : [row('cores of PostgreSQL', expected.databaseCores, load.databaseCores, 3)]),
        ...(bus === 'redis' ? [row('cores of Redis', expected.redisCores, load.redisCores, 3)] : []),
      ],
    };
  } finally {
    await installation.stop();
  }
}
