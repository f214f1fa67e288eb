import { execFileSync } from 'node:child_process';
import { setPriority } from 'node:os';
import { answerCommands } from '../support/worker.ts';
import type { Client } from './client.ts';
import { type Kind, kinds } from './kinds.ts';

/* A worker that floods a server. */

export type Command = { type: 'begin'; kind: Kind; port: number; room: string; addresses: string[] } | { type: 'end' };

export interface Report {
  /** The number of sent messages and of outcomes of connections. */
  counts: Record<string, number>;
  /** CPU time of the flood. */
  cpuMicros: number;
}

const open = new Set<Client>();
let counts: Record<string, number> = {};
let stop = new AbortController();
let flooding: Promise<void> = Promise.resolve();
let cpu = process.cpuUsage();

// A real flood uses other machines. The lowest priority leaves the processors to the server and the ordinary clients.
try {
  execFileSync('chrt', ['--all-tasks', '--idle', '--pid', '0', String(process.pid)]);
} catch {
  setPriority(19);
}

answerCommands<Command, Report>(async (command) => {
  if (command.type === 'begin') begin(command);
  else await end();
  const { user, system } = process.cpuUsage(cpu);
  return { counts, cpuMicros: user + system };
});

function begin({ kind, ...target }: Command & { type: 'begin' }): void {
  counts = {};
  cpu = process.cpuUsage();
  stop = new AbortController();
  const count = (name: string, by = 1) => {
    counts[name] = (counts[name] ?? 0) + by;
  };
  flooding = kinds[kind]({ ...target, signal: stop.signal, open, count });
}

async function end(): Promise<void> {
  stop.abort();
  const clients = [...open];
  const reported = { ...counts, 'still open': clients.length };
  for (const client of clients) client.disconnect();
  await Promise.all([...clients.map(({ ended }) => ended), flooding]);
  // Connections that the flood itself closes are not outcomes.
  counts = reported;
}
