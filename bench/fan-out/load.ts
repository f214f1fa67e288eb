import { Listener } from './listener.ts';

/* A process that holds subscribers and counts what they get. It is told what to do over IPC, and answers each order once. */

export interface Seat {
  room: string;
  query: string | undefined;
}

export type Order =
  | { type: 'connect'; port: number; seats: Seat[] }
  /** Counts from zero; tells when each `step` events have arrived. */
  | { type: 'count'; step: number; lastNumber: number }
  | { type: 'report' }
  | { type: 'leave' };

export interface Report {
  total: number;
  fewest: number;
  most: number;
  /** The latest events, those that differ. */
  last: string[];
  failures: string[];
}

export type Reply =
  | { type: 'done' }
  /** `at`: the monotonic clock, in nanoseconds, which all processes of a machine share. */
  | { type: 'step'; at: number }
  | ({ type: 'report' } & Report)
  | { type: 'failed'; reason: string };

const atOnce = 100;
const listeners: Listener[] = [];
let total = 0;
let step = Number.POSITIVE_INFINITY;

process.on('message', (order: Order) => {
  obey(order).then(reply, (error: unknown) => reply({ type: 'failed', reason: String(error) }));
});
process.once('disconnect', () => process.exit());

async function obey(order: Order): Promise<Reply> {
  if (order.type === 'connect') return connectAll(order.port, order.seats);
  if (order.type === 'report') return report();
  if (order.type === 'leave') return leave();
  total = 0;
  step = order.step;
  for (const listener of listeners) listener.reset(order.lastNumber);
  return { type: 'done' };
}

async function connectAll(port: number, seats: readonly Seat[]): Promise<Reply> {
  for (let from = 0; from < seats.length; from += atOnce) {
    const some = seats.slice(from, from + atOnce).map((seat) => new Listener({ ...seat, port, onEvent }));
    listeners.push(...some);
    await Promise.all(some.map(({ subscribed }) => subscribed));
  }
  return { type: 'done' };
}

function onEvent(): void {
  total += 1;
  if (total % step === 0) reply({ type: 'step', at: Number(process.hrtime.bigint()) });
}

function report(): Reply {
  const counts = listeners.map(({ count }) => count);
  return {
    type: 'report',
    total,
    fewest: counts.reduce((fewest, count) => Math.min(fewest, count)),
    most: counts.reduce((most, count) => Math.max(most, count)),
    last: [...new Set(listeners.map(({ last = '' }) => last))],
    failures: listeners.flatMap(({ failure = [] }) => failure).slice(0, 3),
  };
}

function leave(): Reply {
  for (const listener of listeners.splice(0)) listener.leave();
  return { type: 'done' };
}

function reply(answer: Reply): void {
  process.send?.(answer);
}
