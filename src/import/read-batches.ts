import { type Line, readLines } from './lines.ts';
import { BadRecord, parseRecord } from './records.ts';
import type { Entry } from './resolve.ts';

const maxEntries = 500;
const maxCharacters = 1_000_000;

/** Reads the lines of a file in batches, each small enough for one transaction. Empty lines are skipped. */
export async function* readBatches(bytes: AsyncIterable<Buffer>): AsyncGenerator<Entry[]> {
  let entries: Entry[] = [];
  let characters = 0;
  for await (const lines of readLines(bytes)) {
    for (const line of lines) {
      const entry = readEntry(line);
      if (!entry) continue;
      entries.push(entry);
      characters += 'text' in line ? line.text.length : 0;
      if (entries.length < maxEntries && characters < maxCharacters) continue;
      yield entries;
      entries = [];
      characters = 0;
    }
  }
  if (entries.length > 0) yield entries;
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
