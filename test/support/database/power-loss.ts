import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Random } from '../../../simulation/random.ts';
import type { DiskCall } from './disk-trace.ts';

type FileCall = Extract<DiskCall, { type: 'write' | 'truncate' }>;

/**
 * Creates the files of `folder` in `target` as a loss of power at the place `cut` of a trace may leave them. The effects
 * of calls that ended before the begin of a completed flush are certain. Of all later effects a random part is there: the
 * system writes any block at any time, but each block as it was at one time. A name is there only if its folder was flushed.
 */
export function losePower(calls: readonly DiskCall[], cut: number, { folder, target, random }: Files): void {
  mkdirSync(target, { recursive: true });
  const before = calls.filter(({ begin }) => begin < cut);
  for (const file of new Set(
    before.flatMap((call) => ('file' in call && isKept(call.file, folder) ? [call.file] : [])),
  )) {
    const created = before.find((call) => call.type === 'create' && call.file === file);
    if (!created || created.end > certainUntil(before, cut, folder)) continue;
    const changes = before.filter(
      (call): call is FileCall => (call.type === 'write' || call.type === 'truncate') && call.file === file,
    );
    writeFileSync(join(target, basename(file)), rebuild(changes, certainUntil(before, cut, file), random));
  }
}

interface Files {
  folder: string;
  target: string;
  random: Random;
}

/** The index of the write-ahead log is created again after a crash. */
function isKept(file: string, folder: string): boolean {
  return dirname(file) === folder && /\.db(-wal)?$/.test(file);
}

/** The begin of the last flush that was completed. */
function certainUntil(calls: readonly DiskCall[], cut: number, file: string): number {
  const flushes = calls.filter((call) => call.type === 'flush' && call.file === file && call.end < cut);
  return flushes.reduce((latest, { begin }) => Math.max(latest, begin), -1);
}

function rebuild(changes: readonly FileCall[], certain: number, random: Random): Buffer {
  const image = new FileImage(changes);
  for (const change of changes) if (change.end < certain) image.apply(change);
  const uncertain = changes.filter(({ end }) => end >= certain);
  // The size of a file changes in the order of the calls: at a truncation that is lost, all later effects are lost.
  const truncations = uncertain.flatMap(({ type }, index) => (type === 'truncate' ? [index] : []));
  const stop = truncations[random.whole(0, truncations.length + 1)] ?? uncertain.length;
  const blockBytes = [512, 4_096][random.whole(0, 2)] ?? 512;
  const keptPercent = random.whole(0, 101);
  /** The index of the first write that each block has lost, and with it all later writes. */
  const lostFrom = new Map<number, number>();
  for (const [index, change] of uncertain.slice(0, stop).entries()) {
    for (const { block, part } of split(change, blockBytes)) {
      const limit = lostFrom.get(block) ?? (random.whole(0, 100) < keptPercent ? stop : random.whole(0, stop));
      lostFrom.set(block, limit);
      if (index < limit) image.apply(part);
    }
  }
  return image.content;
}

type Part = Pick<Extract<FileCall, { type: 'write' }>, 'type' | 'offset' | 'bytes'>;
type Change = Part | Pick<Extract<FileCall, { type: 'truncate' }>, 'type' | 'size'>;

/** The parts of a write in blocks. A truncation is not split. */
function split(change: FileCall, blockBytes: number): { block: number; part: Change }[] {
  if (change.type === 'truncate') return [{ block: -1, part: change }];
  const { offset, bytes } = change;
  const parts: { block: number; part: Change }[] = [];
  for (let start = 0; start < bytes.length; ) {
    const block = Math.floor((offset + start) / blockBytes);
    const end = Math.min(bytes.length, (block + 1) * blockBytes - offset);
    parts.push({ block, part: { type: 'write', offset: offset + start, bytes: bytes.subarray(start, end) } });
    start = end;
  }
  return parts;
}

class FileImage {
  readonly #bytes: Buffer;
  #size = 0;

  constructor(changes: readonly FileCall[]) {
    const ends = changes.map((change) => (change.type === 'write' ? change.offset + change.bytes.length : change.size));
    this.#bytes = Buffer.alloc(ends.reduce((most, end) => Math.max(most, end), 0));
  }

  get content(): Buffer {
    return this.#bytes.subarray(0, this.#size);
  }

  apply(change: Change): void {
    if (change.type === 'write') {
      change.bytes.copy(this.#bytes, change.offset);
      this.#size = Math.max(this.#size, change.offset + change.bytes.length);
    } else {
      this.#bytes.fill(0, change.size);
      this.#size = change.size;
    }
  }
}
