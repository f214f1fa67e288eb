import { Kysely, PostgresDialect } from 'kysely';
import { Client, Pool, types } from 'pg';
import { openDatabase } from '../../../src/data/database/open-database.ts';
import { createRoomRow, findRoom } from '../../../src/data/domain/rooms.ts';
import { insertRows } from '../../../src/data/sql/list-statements.ts';
import type { RoomRow, Tables } from '../../../src/data/tables.ts';
import { measureInTurn } from '../../support/rounds.ts';
import { ratios, spread } from '../../support/statistics.ts';
import type { TableWithTargets } from '../../support/table.ts';
import { withDatabase } from '../database.ts';
import type { Run } from './run.ts';

const roundMs = 500;
const inFlight = 64;
const roomCount = 1_000;
const columns =
  '"id", "name", "visibility", "ownerId", "head", "headMark", "headAt", "previousMark", "createdAt", "updatedAt", "version"';

interface Reader {
  read: (id: string) => Promise<RoomRow | undefined>;
  close: () => Promise<void>;
}

/** One row by its primary key, with 64 reads at a time. */
export function driver({ rounds }: Run): Promise<TableWithTargets> {
  return withDatabase(async (url) => {
    types.setTypeParser(types.builtins.INT8, Number);
    const database = await openDatabase(url);
    const rooms = Array.from({ length: roomCount }, (_, index) => createRoomRow({ name: `room ${index}` }));
    await database.transaction((db) => insertRows(db, 'rooms', rooms));
    const readers: Record<string, Reader> = {
      Postroom: { read: (id) => findRoom(database.db, id), close: () => database.close() },
      'pg, pipeline mode': await openPlain(url),
      "Kysely's PostgresDialect": await openKysely(url),
    };
    const ids = rooms.map(({ id }) => id);
    const samples = await measureInTurn(Object.values(readers), { rounds, warmUpRounds: 2 }, ({ read }) =>
      load(read, ids),
    );
    for (const { close } of Object.values(readers)) await close();
    const [own = [], plain = [], kysely = []] = samples.map((all) => all.map(({ perSecond }) => perSecond));
    const rows = Object.keys(readers).map((driver, index) => {
      const all = samples[index] ?? [];
      const rates = all.map(({ perSecond }) => perSecond);
      const cpu = all.map(({ cpuMicros }) => cpuMicros);
      return {
        driver,
        'reads/s': spread(rates, 0),
        'CPU, µs': spread(cpu, 1),
        'Postroom ÷': spread(ratios(own, rates)),
      };
    });
    return {
      title: 'A row by its id',
      about: `${inFlight} reads at a time, ${rounds} rounds of ${roundMs} ms.`,
      rows,
      targets: [
        { name: 'a row by its id ÷ pg in pipeline mode', ratios: ratios(own, plain), atLeast: 0.8 },
        { name: "a row by its id ÷ Kysely's dialect", ratios: ratios(own, kysely), atLeast: 3 },
      ],
    };
  });
}

/** One connection, because more of them are slower. */
async function openPlain(connectionString: string): Promise<Reader> {
  const client = new Client({ connectionString, pipeline: true });
  await client.connect();
  const text = `select ${columns} from rooms where id = $1`;
  return {
    read: async (id) => (await client.query<RoomRow>({ name: 'room', text, values: [id] })).rows[0],
    close: () => client.end(),
  };
}

async function openKysely(connectionString: string): Promise<Reader> {
  const pool = new Pool({ connectionString, max: 8 });
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  return {
    read: (id) => db.selectFrom('rooms').selectAll().where('id', '=', id).executeTakeFirst(),
    close: () => db.destroy(),
  };
}

async function load(read: Reader['read'], ids: readonly string[]) {
  let count = 0;
  const startedAt = performance.now();
  const cpu = process.cpuUsage();
  const run = async () => {
    while (performance.now() - startedAt < roundMs) {
      const id = ids[count % ids.length] ?? '';
      count += 1;
      if ((await read(id))?.id !== id) throw new Error('The room is not the right one.');
    }
  };
  await Promise.all(Array.from({ length: inFlight }, run));
  const { user, system } = process.cpuUsage(cpu);
  return { perSecond: (count / (performance.now() - startedAt)) * 1_000, cpuMicros: (user + system) / count };
}
