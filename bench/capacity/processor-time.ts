import { readdirSync, readFileSync } from 'node:fs';

/** The kernel counts the time of children that have ended in hundredths of a second. */
const microsPerTick = 10_000;

/** The CPU time of a process and of its children, also of those that have ended, in microseconds. Each has one thread. */
export function cpuMicrosOf(pid: number): number {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((child) => readStat(child, 1) === pid);
  const ended = readStat(pid, 13) + readStat(pid, 14);
  return [pid, ...children].reduce((sum, each) => sum + readMicros(each), ended * microsPerTick);
}

/** A field of the process by its index after the name of the program. */
function readStat(pid: number, index: number): number {
  const text = read(pid, 'stat');
  // The name is in parentheses, and may contain spaces.
  return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[index] ?? 0);
}

function readMicros(pid: number): number {
  const [nanos = '0'] = read(pid, 'schedstat').split(' ');
  return Number(nanos) / 1_000;
}

/** Empty if the process has ended. */
function read(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}
