import { readCosts } from './costs.ts';

/** What an installation shall carry. All rooms have equally many subscribers and events. */
export interface Load {
  subscribers: number;
  /** Rooms that have subscribers. */
  rooms: number;
  /** Posts, each of which is an event of its room. */
  eventsPerSecond: number;
  connectsPerSecond: number;
  /** The share of the subscribers who are shown in the presence of their rooms, from 0 to 1. */
  presence: number;
}

export interface Hardware {
  database: 'sqlite' | 'postgres';
  bus: 'notify' | 'redis';
  nodeCores: number;
  nodeBytes: number;
  /** To clients, per second. */
  nodeNetworkBytes: number;
  databaseCores: number;
  /** The share of a processor that may be used. */
  busy: number;
}

/** What the parts do in a second. Cores are CPU seconds per second. */
export interface Prediction {
  processes: number;
  processCores: number;
  processBytes: number;
  sentBytesOfProcess: number;
  /** The part of `processCores` that is the same with more processes: it is caused by messages and comparisons. */
  messageCores: number;
  headCores: number;
  databaseCores: number;
  /** Of PostgreSQL, on which notifications wait for each other. */
  notifyCores: number;
  redisCores: number;
  /** Written by all processes. */
  busMessages: number;
  receivedMessagesOfProcess: number;
  headsCompared: number;
  deliveries: number;
  connections: number;
}

export interface Resource {
  name: string;
  used: number;
  available: number;
  unit: string;
}

const costs = readCosts();
const headsIntervalSeconds = 1.5;
/** On average. */
const presenceRepeatSeconds = 7.5;
const usersOfReport = 100;
const connectionsOfProcess = 20;
/** V8's default on a machine with 16 GB. */
const heapBytes = 4 * 2 ** 30;
const maxProcesses = 20_000;

export function predict(load: Load, hardware: Pick<Hardware, 'database' | 'bus'>, processes: number): Prediction {
  const { database, bus } = hardware;
  const own = (name: string) => costOf(`${database}.${name}`);
  const isNotify = database === 'postgres' && bus === 'notify';
  const { subscribers, rooms, eventsPerSecond: events } = load;
  const others = processes - 1;
  const followed = shareOfFollowed(subscribers / rooms, processes);
  const deliveries = (events * subscribers) / rooms;

  const presenceRooms =
    load.presence === 0 ? 0 : rooms * shareOfFollowed((subscribers * load.presence) / rooms, processes);
  const pages = Math.max(1, (subscribers * load.presence) / Math.max(1, presenceRooms) / processes / usersOfReport);
  const reports = others === 0 ? 0 : (presenceRooms * pages) / presenceRepeatSeconds;
  const shareOfPresence = presenceRooms / rooms;
  // With Redis a message reaches the processes that follow its room; with NOTIFY it reaches all.
  const reaching = (share: number) => (isNotify ? others : others * share);

  const ownEvents = (events / processes) * followed * own('event');
  const perReceived = () => costOf(`${isNotify ? 'notify' : 'redis'}.receivedEvent`) - own('delivery');
  const receivedEvents = others === 0 ? 0 : ((events * others) / processes) * followed * Math.max(0, perReceived());
  const perOther = () => costOf('notify.receivedOther');
  const ignoredEvents = isNotify && others > 0 ? ((events * others) / processes) * (1 - followed) * perOther() : 0;
  const ignoredReports = isNotify && reports > 0 ? reports * others * (1 - shareOfPresence) * perOther() : 0;
  const presence = reports > 0 ? reports * (1 + others * shareOfPresence) * costOf('presenceReport') : 0;
  // Each process publishes a ping in each second, which all processes receive.
  const pings = others === 0 ? 0 : processes * costOf(`${isNotify ? 'notify' : 'redis'}.ping`);
  const messageCores = (receivedEvents + ignoredEvents + presence + ignoredReports + pings) / 1e6;
  const heads = (rooms * followed) / headsIntervalSeconds;
  const headCores = (heads * own('head')) / 1e6;
  const shared =
    own('process') +
    (subscribers / processes) * own('subscriber') +
    (load.connectsPerSecond / processes) * own('connect') +
    (events / processes) * own('write') +
    ownEvents +
    (deliveries / processes) * own('delivery');

  const busMessages = others === 0 ? 0 : processes + events + reports * processes;
  const notifyCores = isNotify && others > 0 ? (busMessages * costOf('notify.message')) / 1e6 : 0;
  const listenerCores = isNotify && others > 0 ? (busMessages * processes * costOf('notify.listener')) / 1e6 : 0;
  const databaseCores =
    database === 'sqlite'
      ? 0
      : (processes * own('databaseProcess') + events * own('databaseWrite') + heads * processes * own('databaseHead')) /
        1e6;
  const redisReceivers = processes ** 2 + events * reaching(followed) + reports * processes * reaching(shareOfPresence);
  const redisCores =
    database === 'postgres' && bus === 'redis' && others > 0
      ? (busMessages * costOf('redis.publish') + redisReceivers * costOf('redis.receiver')) / 1e6
      : 0;
  return {
    processes,
    processCores: shared / 1e6 + messageCores + headCores,
    processBytes:
      own('processBytes') + (subscribers / processes) * own('subscriberBytes') + rooms * followed * own('roomBytes'),
    sentBytesOfProcess: (deliveries / processes) * own('deliveryBytes'),
    messageCores,
    headCores,
    databaseCores: databaseCores + notifyCores + listenerCores,
    notifyCores,
    redisCores,
    busMessages,
    receivedMessagesOfProcess: others + (events * reaching(followed)) / processes + reports * reaching(shareOfPresence),
    headsCompared: heads * processes,
    deliveries,
    connections: database === 'sqlite' ? 0 : processes * connectionsOfProcess,
  };
}

/** The smallest number of processes that carries the load, or else that whose processes are least busy. */
export function plan(load: Load, hardware: Hardware): Prediction {
  const limit = hardware.database === 'sqlite' ? hardware.nodeCores : maxProcesses;
  let best: Prediction | undefined;
  // More processes do not make a process less busy for ever: each receives messages and compares heads.
  for (let processes = 1; processes <= limit; processes = Math.max(processes + 1, Math.floor(processes * 1.02))) {
    const prediction = predict(load, hardware, processes);
    if (ofProcess(prediction, hardware).every(({ used, available }) => used <= available)) return prediction;
    if (best === undefined || fullest(ofProcess(prediction, hardware)) < fullest(ofProcess(best, hardware)))
      best = prediction;
  }
  return best ?? predict(load, hardware, 1);
}

export function resourcesOf(prediction: Prediction, load: Load, hardware: Hardware): Resource[] {
  const { database, bus, busy } = hardware;
  const cores = (name: string, used: number, available: number) => ({
    name,
    used,
    available: available * busy,
    unit: 'cores',
  });
  const perRoom = {
    name: 'the row of one room',
    used: load.eventsPerSecond / load.rooms,
    available: costOf(`${database}.eventsOfRoom`),
    unit: 'events/s',
  };
  if (database === 'sqlite') {
    // As if a mutation held the lock for all of its time.
    const writing = (load.eventsPerSecond * costOf('sqlite.write')) / 1e6;
    return [...ofProcess(prediction, hardware), cores('the lock of the database', writing, 1), perRoom];
  }
  return [
    ...ofProcess(prediction, hardware),
    cores('PostgreSQL', prediction.databaseCores, hardware.databaseCores),
    ...(bus === 'notify' ? [cores('NOTIFY, one after the other', prediction.notifyCores, 1)] : []),
    ...(bus === 'redis' ? [cores('Redis', prediction.redisCores, 1)] : []),
    perRoom,
  ];
}

/** How many times the load is carried, and the resource that prevents more. All of the load grows alike. */
export function findLimit(load: Load, hardware: Hardware): { factor: number; resource: Resource } {
  const at = (factor: number) => {
    const more = {
      ...load,
      subscribers: load.subscribers * factor,
      rooms: load.rooms * factor,
      eventsPerSecond: load.eventsPerSecond * factor,
      connectsPerSecond: load.connectsPerSecond * factor,
    };
    return resourcesOf(plan(more, hardware), more, hardware);
  };
  let [low, high] = [2 ** -14, 2 ** 14];
  while (high / low > 1.01) {
    const middle = Math.sqrt(low * high);
    if (fullest(at(middle)) <= 1) low = middle;
    else high = middle;
  }
  const [resource] = at(high).toSorted((one, other) => other.used / other.available - one.used / one.available);
  if (resource === undefined) throw new Error('There is no resource.');
  return { factor: low, resource };
}

/** What more nodes make smaller. */
function ofProcess(prediction: Prediction, { nodeCores, nodeBytes, nodeNetworkBytes, busy }: Hardware): Resource[] {
  const { processes, processCores, processBytes, sentBytesOfProcess } = prediction;
  const onNode = Math.min(nodeCores, processes);
  const gibibytes = (bytes: number) => bytes / 2 ** 30;
  return [
    {
      name: 'processor of a process',
      used: processCores,
      available: busy,
      unit: 'cores',
    },
    { name: 'memory of a process', used: gibibytes(processBytes), available: gibibytes(heapBytes) * busy, unit: 'GiB' },
    {
      name: 'memory of a node',
      used: gibibytes(processBytes * onNode),
      available: gibibytes(nodeBytes) * busy,
      unit: 'GiB',
    },
    {
      name: 'network of a node',
      used: (sentBytesOfProcess * onNode * 8) / 1e9,
      available: (nodeNetworkBytes * busy * 8) / 1e9,
      unit: 'Gbit/s',
    },
  ];
}

function fullest(resources: readonly Resource[]): number {
  return Math.max(...resources.map(({ used, available }) => used / available));
}

/** The share of the rooms that have a subscriber on a process. */
function shareOfFollowed(perRoom: number, processes: number): number {
  return processes === 1 ? 1 : 1 - (1 - 1 / processes) ** perRoom;
}

function costOf(name: string): number {
  const cost = costs[name];
  if (cost === undefined) throw new Error(`The cost ${name} was not measured: npm run bench -- capacity`);
  return cost.value;
}
