import { parseArgs } from 'node:util';
import { readCosts } from '../bench/capacity/costs.ts';
import {
  findLimit,
  type Hardware,
  type Load,
  type Prediction,
  plan,
  type Resource,
  resourcesOf,
} from '../bench/capacity/model.ts';

/*
 * npm run capacity -- --subscribers N --rooms N --events-per-second N [OPTION …]
 *
 * Prints what an installation needs for a load, and what limits it first, from the costs in bench/capacity/costs.json.
 * docs/scale.md describes the model. The options of the hardware are those of one node, except database-cores.
 */

const options = {
  subscribers: { type: 'string' },
  rooms: { type: 'string' },
  'events-per-second': { type: 'string' },
  'connects-per-second': { type: 'string', default: '0' },
  presence: { type: 'string', default: '0' },
  database: { type: 'string', default: 'postgres' },
  bus: { type: 'string', default: 'notify' },
  'node-cores': { type: 'string', default: '8' },
  'node-gib': { type: 'string', default: '16' },
  'node-gbit': { type: 'string', default: '10' },
  'database-cores': { type: 'string', default: '16' },
  busy: { type: 'string', default: '0.6' },
} as const;

try {
  const values = readOptions();
  print(...values);
} catch (error) {
  console.error(`capacity: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}

function readOptions(): [Load, Hardware] {
  const { values } = parseArgs({ options });
  const number = (name: keyof typeof options, from: number, to = Number.POSITIVE_INFINITY) => {
    const text = values[name];
    const value = Number(text);
    if (text === undefined) throw new Error(`--${name} is missing.`);
    if (text !== '' && value >= from && value <= to && Number.isFinite(value)) return value;
    const range = to === Number.POSITIVE_INFINITY ? `${from} or more` : `${from} to ${to}`;
    throw new Error(`--${name} must be a number of ${range} (got ${JSON.stringify(text)}).`);
  };
  const choice = <Choice extends string>(name: 'database' | 'bus', choices: readonly Choice[]): Choice => {
    const found = choices.find((each) => each === values[name]);
    if (found !== undefined) return found;
    throw new Error(`--${name} must be ${choices.join(' or ')} (got ${JSON.stringify(values[name])}).`);
  };
  const load = {
    subscribers: number('subscribers', 1),
    rooms: number('rooms', 1),
    eventsPerSecond: number('events-per-second', 0),
    connectsPerSecond: number('connects-per-second', 0),
    presence: number('presence', 0, 1),
  };
  if (load.rooms > load.subscribers)
    throw new Error(`--rooms must not be greater than --subscribers: rooms without subscribers cost nothing here.`);
  const hardware = {
    database: choice('database', ['postgres', 'sqlite']),
    bus: choice('bus', ['notify', 'redis']),
    nodeCores: number('node-cores', 1, 256),
    nodeBytes: number('node-gib', 0.5) * 2 ** 30,
    nodeNetworkBytes: (number('node-gbit', 0.01) * 1e9) / 8,
    databaseCores: number('database-cores', 1, 1_024),
    busy: number('busy', 0.05, 1),
  };
  return [load, hardware];
}

function print(load: Load, hardware: Hardware): void {
  const prediction = plan(load, hardware);
  const resources = resourcesOf(prediction, load, hardware);
  console.log(describe(prediction, hardware));
  console.log(formatResources(resources));
  const { factor, resource } = findLimit(load, hardware);
  if (factor < 1)
    console.log(`Limit: ${resource.name}. It is reached at ${format(factor)} of this load: the load does not fit.`);
  else console.log(`Limit: ${resource.name}. It is reached first, at ${format(factor)} times this load.`);
  const dates = Object.values(readCosts()).map(({ date }) => date);
  console.log(`The costs were measured from ${dates.reduce(min)} to ${dates.reduce(max)}: bench/capacity/costs.json.`);
}

function describe(prediction: Prediction, { nodeCores, database, bus }: Hardware): string {
  const { processes, processCores, databaseCores, redisCores, processBytes, sentBytesOfProcess } = prediction;
  const nodes = Math.ceil(processes / nodeCores);
  const rows: Record<string, string> = {
    nodes: `${nodes} of ${nodeCores} cores, ${processes} processes in all`,
    cores: `${format(processes * processCores)} of the processes, ${format(databaseCores)} of the database${bus === 'redis' && database === 'postgres' ? `, ${format(redisCores)} of Redis` : ''}`,
    'cores of one process': `${format(processCores)}, of which messages of others ${format(prediction.messageCores)}, comparison of heads ${format(prediction.headCores)}`,
    memory: `${format((processes * processBytes) / 2 ** 30)} GiB, ${format(processBytes / 2 ** 20)} MiB of a process`,
    deliveries: `${format(prediction.deliveries)}/s, ${format((processes * sentBytesOfProcess * 8) / 1e6)} Mbit/s`,
    'bus messages': `${format(prediction.busMessages)}/s published, ${format(prediction.receivedMessagesOfProcess)}/s received by each process`,
    'heads compared': `${format(prediction.headsCompared)}/s`,
    'connections to PostgreSQL': format(prediction.connections),
  };
  return Object.entries(rows)
    .map(([name, text]) => `${name.padEnd(26)} ${text}`)
    .join('\n');
}

function formatResources(resources: readonly Resource[]): string {
  const lines = resources.map(({ name, used, available, unit }) => {
    const share = `${((100 * used) / available).toFixed(0)} %`;
    return `  ${share.padStart(7)}  ${name}: ${format(used)} of ${format(available)} ${unit}`;
  });
  return ['', 'used of what is available', ...lines, ''].join('\n');
}

function format(value: number): string {
  return value.toLocaleString('en-US', { maximumSignificantDigits: 3 });
}

function min(one: string, other: string): string {
  return one < other ? one : other;
}

function max(one: string, other: string): string {
  return one > other ? one : other;
}
