import { setTimeout as wait } from 'node:timers/promises';
import { LimitedQueue } from '../../src/common/limited-queue.ts';
import { type Bus, presenceTopic, roomTopic } from '../../src/live/bus/bus.ts';
import { createPace } from '../../src/live/pace.ts';
import { OwnPresence, type PresentViewer } from '../../src/live/presence/own-presence.ts';
import { joinPresence } from '../../src/live/presence/presence-state.ts';
import { PresenceReports } from '../../src/live/presence/reports.ts';
import { type BusName, openBus } from '../nodes/buses.ts';
import { createEvent, now } from '../nodes/commits.ts';
import { percentile } from '../support/statistics.ts';
import { answerCommands } from '../support/worker.ts';

/*
 * A process with some of the nodes of a simulated installation. A node is a bus with its listeners, and nothing else: it has
 * no subscribers and no database.
 */

export interface Shape {
  bus: BusName;
  databaseUrl: string;
  redisUrl: string;
  /** The number of all nodes, and the first and the number of those in this process. */
  nodes: number;
  first: number;
  count: number;
}

export type Command =
  | ({ type: 'open' } & Shape)
  | { type: 'follow'; rooms: number; followers: number }
  | { type: 'events'; perSecond: number; seconds: number; rooms: number }
  /** A room in which each node has this number of users. */
  | { type: 'enter'; users: number }
  /** With `changes`, one user of each node leaves and comes back in each second. */
  | { type: 'presence'; seconds: number; changes: boolean }
  | { type: 'wait'; seconds: number }
  | { type: 'close' };

/** Sums of all nodes of the process during the command. */
export interface Reply {
  published: number;
  received: number;
  lost: number;
  /** Events that listeners of their rooms have received from other nodes, and their delays. */
  delivered: number;
  p50: number;
  p99: number;
  cpuMicros: number;
  /** The longest join of the reports of all nodes, and the time of all joins. */
  longestJoinMs: number;
  joinMs: number;
}

interface Node {
  index: number;
  bus: Bus;
  own?: OwnPresence;
}

const room = 'presence';
const sendIntervalMs = 250;
const drainMs = 1_000;
const nodes: Node[] = [];
let shape: Shape;
let delays: number[] = [];
const joins = { longestMs: 0, ms: 0 };

answerCommands<Command, Reply>(async (command) => {
  const before = counts();
  delays = [];
  Object.assign(joins, { longestMs: 0, ms: 0 });
  await handle(command);
  const after = counts();
  return {
    published: after.published - before.published,
    received: after.received - before.received,
    lost: after.lost - before.lost,
    cpuMicros: after.cpuMicros - before.cpuMicros,
    delivered: delays.length,
    p50: percentile(delays, 0.5),
    p99: percentile(delays, 0.99),
    longestJoinMs: joins.longestMs,
    joinMs: joins.ms,
  };
});

async function handle(command: Command): Promise<void> {
  if (command.type === 'open') return open(command);
  if (command.type === 'follow') return follow(command);
  if (command.type === 'events') return publishEvents(command);
  if (command.type === 'enter') return enterAll(command.users);
  if (command.type === 'presence') return changePresence(command);
  if (command.type === 'wait') return wait(command.seconds * 1_000);
  await Promise.all(nodes.map(({ bus }) => bus.close()));
}

function counts() {
  const { user, system } = process.cpuUsage();
  const sum = (name: 'published' | 'received' | 'lost') => nodes.reduce((all, { bus }) => all + bus.counts[name], 0);
  return { published: sum('published'), received: sum('received'), lost: sum('lost'), cpuMicros: user + system };
}

async function open(given: Shape): Promise<void> {
  shape = given;
  for (let index = given.first; index < given.first + given.count; index += 1)
    nodes.push({ index, bus: await openBus(given.bus, given.databaseUrl, given.redisUrl) });
}

/** Each room has the same number of followers. */
async function follow({ rooms, followers }: { rooms: number; followers: number }): Promise<void> {
  for (const { index, bus } of nodes)
    for (let number = 0; number < rooms; number += 1)
      if ((index + number) % shape.nodes < followers)
        await bus.subscribe(roomTopic(`room${number}`), (message) => {
          if (message.type !== 'roomChanged') return;
          // A node delivers its own events to itself at once.
          if (message.event.seq % shape.nodes !== index) delays.push((now() - message.event.at) / 1e6);
        });
}

/** All nodes publish in turn. The number of an event is that of its node, plus a multiple of the number of nodes. */
async function publishEvents({ perSecond, seconds, rooms }: { perSecond: number; seconds: number; rooms: number }) {
  const startedAt = performance.now();
  for (let number = 0; number < perSecond * seconds; number += 1) {
    const early = startedAt + (number * 1_000) / perSecond - performance.now();
    if (early > 0) await wait(early);
    const node = nodes[number % nodes.length];
    node?.bus.publish(createEvent(`room${Math.floor(Math.random() * rooms)}`, node.index + shape.nodes * number));
  }
  await wait(drainMs);
}

async function enterAll(users: number): Promise<void> {
  const queue = new LimitedQueue({ maxRunning: 1 });
  for (const node of nodes) {
    const { bus, index } = node;
    const identity = { id: `node${index}`, lastNumber: 0, absences: 0, queue, hasStopped: false };
    const own = new OwnPresence(identity, (userId) => reports.noteChange(userId));
    const sending = createPace(sendIntervalMs, () => join(own, reports), throwIt);
    // The joins of all nodes would use more than the processors of one machine.
    const onReport = () => (node === nodes[0] ? sending.request() : undefined);
    const reports: PresenceReports = new PresenceReports({
      roomId: room,
      node: identity,
      own,
      bus,
      onReport,
      onError: throwIt,
    });
    node.own = own;
    await bus.subscribe(presenceTopic(room), (message) => {
      if (message.type === 'presencePageReported') reports.receive(message);
    });
    for (let number = 0; number < users; number += 1) own.enter(viewer(index, number), node);
  }
  await wait(3_000);
}

async function changePresence({ seconds, changes }: { seconds: number; changes: boolean }): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    const startedAt = performance.now();
    for (const node of changes ? nodes : []) {
      node.own?.leave(viewer(node.index, second), node, false);
      node.own?.enter(viewer(node.index, second), node);
      await wait(500 / nodes.length);
    }
    await wait(Math.max(0, startedAt + 1_000 - performance.now()));
  }
}

function join(own: OwnPresence, reports: PresenceReports): void {
  const startedAt = performance.now();
  joinPresence(room, [own, ...reports.pages()]);
  const ms = performance.now() - startedAt;
  joins.ms += ms;
  joins.longestMs = Math.max(joins.longestMs, ms);
}

function viewer(index: number, number: number): PresentViewer {
  const id = `user of ${index}, number ${number}`.padEnd(26, '_');
  const viewerScope = {} as PresentViewer['viewerScope'];
  return { user: { id, name: `Person ${number} of ${index}` }, address: '127.0.0.1', keyId: undefined, viewerScope };
}

function throwIt(error: unknown): never {
  throw error;
}
