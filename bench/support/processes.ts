import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/* What Linux knows of a process: for processes that do not report it themselves. */

const microsPerTick = 10_000;

export function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}

/** User and system time of all threads. */
export function cpuMicrosOf(pid: number): number {
  return timesOf(pid, 11, 12);
}

/** User and system time of all children of this process that have ended. */
export function cpuMicrosOfEndedChildren(): number {
  return timesOf(process.pid, 13, 14);
}

function timesOf(pid: number, ...columns: number[]): number {
  // The name of the program, in parentheses, may contain spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return columns.reduce((sum, column) => sum + Number(fields[column]), 0) * microsPerTick;
}

/** Resident memory, of which pages that several processes share count in parts. */
export function pssBytesOf(pid: number): number {
  return Number(/^Pss: +(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]) * 1_024;
}

/** The ports of the clients whose connections to a port of this machine belong to each process. */
export function clientPortsOf(pids: readonly number[], port: number): number[][] {
  const ports = new Map<string, number>();
  for (const line of readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1)) {
    const [, local = '', remote = '', , , , , , , inode = ''] = line.trim().split(/\s+/);
    if (portOf(local) === port) ports.set(`socket:[${inode}]`, portOf(remote));
  }
  return pids.map((pid) => {
    const folder = `/proc/${pid}/fd`;
    return readdirSync(folder).flatMap((descriptor) => ports.get(linkOf(`${folder}/${descriptor}`)) || []);
  });
}

function portOf(address: string): number {
  return Number.parseInt(address.split(':')[1] ?? '', 16);
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    // Closed meanwhile.
    return '';
  }
}
