import { type Line, LineSplitter } from './lines.ts';
import { BadRecord, parseRecord } from './records.ts';
import type { Entry } from './resolve.ts';

const maxEntries = 500;
const maxCharacters = 1_000_000;

/** Reads the lines of a file in batches, each small enough for one transaction. Empty lines are skipped. */
export async function* readBatches(bytes: AsyncIterable<Buffer>): AsyncGenerator<Entry[]> {
  const splitter = new LineSplitter();
  const batch = new Batch();
  for await (const chunk of bytes) yield* batch.fill(splitter.push(chunk));
  yield* batch.fill(splitter.end());
  if (batch.entries.length > 0) yield batch.entries;
}

class Batch {
  entries: Entry[] = [];
  #characters = 0;

  /** Adds lines, and yields each batch that is full. */
  *fill(lines: readonly Line[]): Generator<Entry[]> {
    for (const line of lines) {
      const entry = readEntry(line);
      if (!entry) continue;
      this.entries.push(entry);
      this.#characters += 'text' in line ? line.text.length : 0;
      if (this.entries.length >= maxEntries || this.#characters >= maxCharacters) yield this.#take();
    }
  }

  #take(): Entry[] {
    const { entries } = this;
    this.entries = [];
    this.#characters = 0;
    return entries;
  }
}

function readEntry(line: Line): Entry | undefined {
  if ('refused' in line) return { line: line.number, reason: line.refused };
  if (/^\s*$/.test(line.text)) return undefined;
  try {
    return { line: line.number, record: parseRecord(line.text) };
  } catch (error) {
    if (error instanceof BadRecord) return { line: line.number, reason: error.message };
    throw error;
  }
}
