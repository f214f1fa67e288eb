import { execFileSync } from 'node:child_process';
import { setPriority } from 'node:os';
import type { Client } from './client.ts';
import { type Kind, kinds } from './kinds.ts';
import { obey } from './worker.ts';

/* A process that floods a server. */

export type Order = { type: 'begin'; kind: Kind; port: number; room: string; addresses: string[] } | { type: 'leave' };

/** What it did and got, and what of the processor that took. */
export interface Report {
  counts: Record<string, number>;
  cpuMicros: number;
}

const open = new Set<Client>();
let counts: Record<string, number> = {};
let stop = new AbortController();
let flooding: Promise<void> = Promise.resolve();
let cpu = process.cpuUsage();

// A flood comes from elsewhere. Where this machine is too small for all, it waits for the server and its neighbours.
try {
  execFileSync('chrt', ['--all-tasks', '--idle', '--pid', '0', String(process.pid)]);
} catch {
  setPriority(19);
}

obey<Order, Report>(async (order) => {
  if (order.type === 'begin') begin(order);
  else await leave();
  const { user, system } = process.cpuUsage(cpu);
  return { counts, cpuMicros: user + system };
});

function begin({ kind, ...target }: Order & { type: 'begin' }): void {
  counts = {};
  cpu = process.cpuUsage();
  stop = new AbortController();
  const count = (what: string, by = 1) => {
    counts[what] = (counts[what] ?? 0) + by;
  };
  flooding = kinds[kind]({ ...target, signal: stop.signal, open, count });
}

async function leave(): Promise<void> {
  stop.abort();
  const left = [...open];
  const told = { ...counts, 'still open': left.length };
  for (const client of left) client.leave();
  await Promise.all([...left.map(({ ended }) => ended), flooding]);
  // How they ended by our own hand is no news.
  counts = told;
}
