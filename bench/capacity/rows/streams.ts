import { median } from '../../support/statistics.ts';
import { type BusKind, Installation } from '../installation.ts';
import type { Measured, Run } from './run.ts';

const perRoom = 100;
const emptyRoomCount = 200;
/** The pings of a WebSocket have this interval. */
const idleSeconds = 15;
/** Such that a process is about half busy, as in an installation whose capacity is planned. */
const rates = { large: 100, small: 300 };

/** The costs of one process on a database: memory and CPU of subscribers, mutations, events and deliveries. */
export async function measureStreams(bus: Extract<BusKind, 'none' | 'notify'>, run: Run): Promise<Measured> {
  const { subscribers } = run;
  const installation = await Installation.start({ bus, nodes: 1 });
  try {
    const process = new MeasuredProcess(installation, run);
    const rooms = await installation.createRooms(subscribers);
    const emptyRooms = await installation.createRooms(emptyRoomCount);
    const large = rooms.slice(0, subscribers / perRoom);
    await installation.run({ seconds: 3, eventsPerSecond: rates.small, rooms: emptyRooms });
    const quiet = await process.idle();
    const eventsOfRoom = await installation.fill(emptyRooms[0] ?? '', run.seconds);
    // One-time allocations do not count.
    await installation.connect(large, 2);
    await installation.disconnect();

    const empty = await process.memory();
    const connectMicros = await process.connect(large, perRoom);
    const inLarge = {
      memory: await process.memory(),
      idle: await process.idle(),
      ...(await process.compare({ rate: rates.large, rooms: large, emptyRooms })),
    };
    await installation.disconnect();
    await process.connect(rooms, 1);
    const inSmall = {
      memory: await process.memory(),
      idle: await process.idle(),
      ...(await process.compare({ rate: rates.small, rooms, emptyRooms })),
    };

    const perSubscriber = ({ heapBytes }: { heapBytes: number }) => (heapBytes - empty.heapBytes) / subscribers;
    const delivery = (inLarge.followed - inSmall.followed) / (perRoom - 1);
    const costs = {
      processBytes: { value: empty.rssBytes, unit: 'bytes' },
      subscriberBytes: { value: perSubscriber(inLarge.memory), unit: 'bytes' },
      roomBytes: { value: perSubscriber(inSmall.memory) - perSubscriber(inLarge.memory), unit: 'bytes' },
      process: { value: quiet.node, unit: 'µs per second' },
      subscriber: { value: (inLarge.idle.node - quiet.node) / subscribers, unit: 'µs per second' },
      connect: { value: connectMicros / subscribers, unit: 'µs' },
      write: { value: inSmall.written.node - inSmall.idle.node / rates.small, unit: 'µs' },
      event: { value: inSmall.followed - delivery, unit: 'µs' },
      delivery: { value: delivery, unit: 'µs' },
      deliveryBytes: { value: inLarge.bytes / perRoom, unit: 'bytes' },
      eventsOfRoom: { value: eventsOfRoom, unit: 'events/s' },
      ...(bus === 'notify' && {
        databaseProcess: { value: quiet.database, unit: 'µs per second' },
        databaseWrite: { value: inSmall.written.database - inSmall.idle.database / rates.small, unit: 'µs' },
      }),
    };
    const prefix = bus === 'none' ? 'sqlite' : 'postgres';
    return Object.fromEntries(
      Object.entries(costs).map(([name, { value, unit }]) => [
        `${prefix}.${name}`,
        { value: Math.max(0, value), unit },
      ]),
    );
  } finally {
    await installation.stop();
  }
}

interface Comparison {
  rate: number;
  rooms: readonly string[];
  emptyRooms: readonly string[];
}

/** The only process of an installation. CPU times are in microseconds. */
class MeasuredProcess {
  readonly #installation: Installation;
  readonly #run: Run;

  constructor(installation: Installation, run: Run) {
    this.#installation = installation;
    this.#run = run;
  }

  /** Of one second without mutations. */
  async idle(): Promise<{ node: number; database: number }> {
    const load = await this.#installation.run({ seconds: idleSeconds, eventsPerSecond: 0, rooms: [] });
    return { node: (load.nodeCores[0] ?? Number.NaN) * 1e6, database: load.databaseCores * 1e6 };
  }

  /** Resident memory also has space that V8 keeps after garbage collection, which hides differences. */
  async memory() {
    const [usage] = await this.#installation.memory();
    return usage ?? { heapBytes: Number.NaN, rssBytes: Number.NaN };
  }

  async connect(rooms: readonly string[], each: number): Promise<number> {
    const before = await this.#installation.cpuMicros();
    await this.#installation.connect(rooms, each);
    return (await this.#installation.cpuMicros()) - before;
  }

  /**
   * In turn posts in empty rooms and in rooms with subscribers, because other programs of the machine affect both. Per
   * event: `followed` is what its subscribers add, `written` is all of an event in an empty room.
   */
  async compare({ rate, rooms, emptyRooms }: Comparison) {
    const rounds: { followed: number; node: number; database: number; bytes: number }[] = [];
    const measure = (among: readonly string[]) =>
      this.#installation.run({ seconds: this.#run.seconds, eventsPerSecond: rate, rooms: among });
    for (let round = 0; round < this.#run.rounds; round += 1) {
      const [without, withThem] = [await measure(emptyRooms), await measure(rooms)];
      const [written = Number.NaN] = without.nodeCores;
      const [all = Number.NaN] = withThem.nodeCores;
      const node = (written * 1e6) / without.eventsPerSecond;
      rounds.push({
        followed: (all * 1e6) / withThem.eventsPerSecond - node,
        node,
        database: (without.databaseCores * 1e6) / without.eventsPerSecond,
        bytes: withThem.sentBytes / withThem.eventsPerSecond,
      });
    }
    const pick = (name: 'followed' | 'node' | 'database' | 'bytes') => median(rounds.map((each) => each[name]));
    return {
      followed: pick('followed'),
      written: { node: pick('node'), database: pick('database') },
      bytes: pick('bytes'),
    };
  }
}
