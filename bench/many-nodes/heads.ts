import { join } from 'node:path';
import { openDatabase } from '../../src/data/database/open-database.ts';
import { findMovedHeads } from '../../src/data/event-log/moved-heads.ts';
import { writeCosts } from '../capacity/costs.ts';
import { cpuMicrosOf } from '../capacity/processor-time.ts';
import { createTemporaryFolder } from '../data/history.ts';
import { createWorld } from '../nodes/writer.ts';
import type { Table } from '../support/table.ts';
import { withServers } from './simulation.ts';

const rooms = 20_000;
/** As in a server. */
const chunk = 2_000;

/** What a comparison of the heads of rooms costs. */
export function measureHeads({ seconds }: { seconds: number }): Promise<Table> {
  return withServers(async ({ postgres: { url, pid } }) => {
    const sqlite = await measure(`sqlite:${join(createTemporaryFolder(), 'heads.db')}`, seconds, () => 0);
    const postgres = await measure(url, seconds, () => cpuMicrosOf(pid));
    writeCosts('many-nodes heads', {
      'sqlite.head': { value: sqlite.node, unit: 'µs' },
      'postgres.head': { value: postgres.node, unit: 'µs' },
      'postgres.databaseHead': { value: postgres.database, unit: 'µs' },
    });
    const rows = Object.entries({ sqlite, postgres }).map(([name, { node, database, perSecond }]) => ({
      database: name,
      'node, µs per head': node.toFixed(2),
      'database, µs per head': database.toFixed(2),
      'heads/s, one query after the other': perSecond.toFixed(0),
    }));
    const about = `${rooms} rooms, none of which has moved, ${chunk} in a query.`;
    return { title: 'Comparison of heads', about, rows };
  });
}

async function measure(url: string, seconds: number, databaseMicros: () => number) {
  await createWorld(url, rooms);
  const database = await openDatabase(url);
  try {
    const heads = await database.checks.selectFrom('rooms').select(['id', 'head', 'headMark']).execute();
    const positions = heads.map(({ id, head, headMark }) => [id, { seq: head, mark: headMark }] as const);
    const compare = async () => {
      for (let from = 0; from < positions.length; from += chunk) {
        const moved = await findMovedHeads(database.checks, 'rooms', positions.slice(from, from + chunk));
        if (moved.size > 0) throw new Error(`${moved.size} heads have moved.`);
      }
    };
    await compare();
    const before = { node: process.cpuUsage(), database: databaseMicros() };
    const startedAt = performance.now();
    let count = 0;
    for (; performance.now() < startedAt + seconds * 1_000; count += positions.length) await compare();
    const { user, system } = process.cpuUsage(before.node);
    return {
      node: (user + system) / count,
      database: (databaseMicros() - before.database) / count,
      perSecond: (count * 1_000) / (performance.now() - startedAt),
    };
  } finally {
    await database.close();
  }
}
