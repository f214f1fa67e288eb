import { spawnSync } from 'node:child_process';
import { createReadStream, statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { expect } from 'vitest';

export const hasStrace = spawnSync('strace', ['-V']).status === 0;

/** A system call. Its places are line numbers of the trace: those of all calls are in the order of time. */
interface Call {
  begin: number;
  /** Infinity if the process ended during the call. */
  end: number;
}

/** Of a file, or of a folder with the names of its files. */
interface FlushCall {
  type: 'flush' | 'failed flush';
  name: 'fsync' | 'fdatasync';
  descriptor: number;
  file: string;
}

export type DiskCall = Call &
  (
    | { type: 'write'; file: string; offset: number; bytes: Buffer }
    | { type: 'truncate'; file: string; size: number }
    | { type: 'create'; file: string }
    | FlushCall
    | { type: 'send'; text: string }
  );

const calls = 'pwrite64,ftruncate,openat,fdatasync,fsync,write,writev';

/** The program and arguments that run a command and record its calls in the file `trace`. */
export function straceOf(trace: string, command: readonly string[], faults: readonly string[] = []): string[] {
  // -D: the spawned process is the command, so that signals reach it. No write of the database is longer than 65,536 bytes.
  return [
    '-D',
    '-f',
    '-y',
    '-xx',
    '-s',
    '65536',
    '--seccomp-bpf',
    '-e',
    `trace=${calls}`,
    ...faults,
    '-o',
    trace,
    ...command,
  ];
}

/**
 * Flushes of the write-ahead log take 40 ms longer, as on a disk: the database of a test may be in memory. In each thread
 * it is every second one, so that a later one can end earlier. SQLite itself flushes with fsync.
 */
export const slowDisk = ['-e', 'inject=fdatasync:delay_enter=40000:when=1+2'];

/** Resolves when a flush of the file begins. The trace grows fast, so each part of it is read once. */
export async function waitForFlush(trace: string, file: string): Promise<void> {
  const path = Array.from(Buffer.from(file), (byte) => `\\\\x${byte.toString(16).padStart(2, '0')}`).join('');
  const flush = new RegExp(`sync\\(\\d+<${path}>`);
  let offset = statSync(trace).size;
  let line = '';
  const hasBegun = async () => {
    for await (const part of createReadStream(trace, { encoding: 'latin1', start: offset })) {
      offset += part.length;
      line += part;
      if (flush.test(line)) return true;
      line = line.slice(line.lastIndexOf('\n') + 1);
    }
    return false;
  };
  await expect.poll(hasBegun).toBe(true);
}

/** The flushes of the write-ahead log, also those that failed, without those of checkpoints. */
export function findLogFlushes(calls: readonly DiskCall[]): (Call & FlushCall)[] {
  const isFlush = (call: DiskCall): call is Call & FlushCall => call.type === 'flush' || call.type === 'failed flush';
  return calls.filter(isFlush).filter(({ name, file }) => name === 'fdatasync' && file.endsWith('-wal'));
}

/** Those of the calls that began during another one. */
export function findOverlapping(calls: readonly DiskCall[]): DiskCall[] {
  return calls.filter((call) => calls.some(({ begin, end }) => begin < call.begin && call.begin < end));
}

/** Reads a trace. Each thread has at most one unfinished call. */
export async function readTrace(trace: string): Promise<DiskCall[]> {
  const found: DiskCall[] = [];
  const unfinished = new Map<string, { begin: number; text: string }>();
  let place = 0;
  for await (const line of createInterface(createReadStream(trace, 'latin1'))) {
    place += 1;
    const [, thread = '', text = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    const [, start] = /^(.*) <unfinished \.\.\.>$/.exec(text) ?? [];
    const [, rest] = /^<\.\.\. \w+ resumed>(.*)$/.exec(text) ?? [];
    if (start !== undefined) unfinished.set(thread, { begin: place, text: start });
    else if (rest === undefined) found.push(...parse(text, { begin: place, end: place }));
    else {
      const { begin, text } = unfinished.get(thread) ?? { begin: place, text: '' };
      unfinished.delete(thread);
      found.push(...parse(text + rest, { begin, end: place }));
    }
  }
  for (const { begin, text } of unfinished.values()) {
    found.push(...parse(`${text}) = 0`, { begin, end: Number.POSITIVE_INFINITY }));
  }
  return found.sort((left, right) => left.begin - right.begin);
}

/** The result is a question mark if the process ended in the call. */
function parse(text: string, call: Call): DiskCall[] {
  const [, name, args = '', result] = /^(\w+)\((.*)\) += (-?\d+|\?)/.exec(text) ?? [];
  const [, number, path = ''] = /^(\d+)<([^>]*)>/.exec(args) ?? [];
  const descriptor = Number(number);
  const file = decode(path).toString();
  if ((name === 'fsync' || name === 'fdatasync') && result === '-1')
    return [{ ...call, type: 'failed flush', name, descriptor, file }];
  if (name === undefined || Number(result) < 0) return [];
  const strings = [...args.matchAll(/"([^"]*)"/g)].map(([, bytes = '']) => decode(bytes));
  const numbers = [...args.matchAll(/, (\d+)(?=,|$)/g)].map(([, number]) => Number(number));
  if (name === 'fsync' || name === 'fdatasync') return [{ ...call, type: 'flush', name, descriptor, file }];
  if (name === 'ftruncate') return [{ ...call, type: 'truncate', file, size: numbers[0] ?? 0 }];
  if (name === 'pwrite64') {
    const bytes = strings[0] ?? Buffer.alloc(0);
    if (bytes.length !== numbers[0])
      throw new Error(`The trace has only ${bytes.length} bytes of ${text.slice(0, 200)}.`);
    return [{ ...call, type: 'write', file, offset: numbers[1] ?? 0, bytes }];
  }
  if (name === 'openat') return args.includes('O_CREAT') ? [{ ...call, type: 'create', file: String(strings[0]) }] : [];
  return [{ ...call, type: 'send', text: Buffer.concat(strings).toString() }];
}

/** Bytes as strace -xx writes them. */
function decode(text: string): Buffer {
  return Buffer.from(text.replaceAll('\\x', ''), 'hex');
}
