import { Subscriber } from './subscriber.ts';

/* The load process has subscribers and counts their events. It receives commands over IPC and answers each command once. */

export interface Subscription {
  room: string;
  query: string | undefined;
  /** The access token of its viewer. */
  token?: string | undefined;
  /** The address that it connects from, because an address has about 28,000 ports for one server. */
  localAddress?: string | undefined;
}

export type Command =
  | { type: 'connect'; port: number; subscriptions: Subscription[] }
  /** Resets the counts. Every `step` events are then reported. `lastNumber` is the number of events per subscriber. */
  | { type: 'count'; step: number; lastNumber: number }
  | { type: 'report' }
  | { type: 'disconnect' };

export interface Report {
  /** Received by all subscribers since they connected. */
  bytes: number;
  /** The smallest and the largest number of events of a subscriber. */
  fewest: number;
  most: number;
  /** The distinct latest events of the subscribers. */
  last: string[];
  failures: string[];
}

export type Reply =
  | { type: 'done' }
  /** `at` is in nanoseconds of the monotonic clock, which all processes of a machine share. */
  | { type: 'step'; at: number }
  | ({ type: 'report' } & Report)
  | { type: 'failed'; reason: string };

const maxConcurrentHandshakes = 100;
const subscribers: Subscriber[] = [];
let total = 0;
let step = Number.POSITIVE_INFINITY;

process.on('message', (command: Command) => {
  handle(command).then(reply, (error: unknown) => reply({ type: 'failed', reason: String(error) }));
});
process.once('disconnect', () => process.exit());

async function handle(command: Command): Promise<Reply> {
  if (command.type === 'connect') return connectAll(command.port, command.subscriptions);
  if (command.type === 'report') return report();
  if (command.type === 'disconnect') return disconnect();
  total = 0;
  step = command.step;
  for (const subscriber of subscribers) subscriber.reset(command.lastNumber);
  return { type: 'done' };
}

async function connectAll(port: number, subscriptions: readonly Subscription[]): Promise<Reply> {
  for (let from = 0; from < subscriptions.length; from += maxConcurrentHandshakes) {
    const some = subscriptions
      .slice(from, from + maxConcurrentHandshakes)
      .map((subscription) => new Subscriber({ ...subscription, port, onEvent }));
    subscribers.push(...some);
    await Promise.all(some.map(({ subscribed }) => subscribed));
  }
  return { type: 'done' };
}

function onEvent(): void {
  total += 1;
  if (total % step === 0) reply({ type: 'step', at: Number(process.hrtime.bigint()) });
}

function report(): Reply {
  const counts = subscribers.map(({ count }) => count);
  return {
    type: 'report',
    bytes: subscribers.reduce((bytes, { bytesRead }) => bytes + bytesRead, 0),
    fewest: counts.reduce((fewest, count) => Math.min(fewest, count)),
    most: counts.reduce((most, count) => Math.max(most, count)),
    last: [...new Set(subscribers.map(({ last = '' }) => last))],
    failures: subscribers.flatMap(({ failure = [] }) => failure).slice(0, 3),
  };
}

function disconnect(): Reply {
  for (const subscriber of subscribers.splice(0)) subscriber.disconnect();
  return { type: 'done' };
}

function reply(answer: Reply): void {
  process.send?.(answer);
}
