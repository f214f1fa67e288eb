import { readConfig } from '../config.ts';
import { type Database, openDatabase } from '../data/database.ts';
import { writeBatch } from '../import/batch.ts';
import { openInput } from '../import/input.ts';
import { readBatches } from '../import/read-batches.ts';
import { Report } from '../import/report.ts';

const usage = 'usage: postroom import FILE [--strict]   (.ndjson or .ndjson.gz; - reads standard input)\n';

/**
 * Brings rooms, users and posts from a file of one JSON object a line into the database:
 *
 *     { "type": "room", "name" }
 *     { "type": "user", "name", "createdAt" }
 *     { "type": "post", "room", "author", "title", "body", "publishedAt" }
 *
 * The rules are those of the API, but for one: control characters in a title become spaces, and are counted, since
 * titles are cut from bodies. A line that breaks a rule, or names what no record before it introduced, is refused by
 * number and reason, and the others go on; with `--strict` the import ends there and keeps what stands before it.
 * What an earlier run brought is known again: a room by name, a user by name among those without credentials, a post
 * by room, author, time and body. Every batch is one transaction, so that a run that was killed can be run again.
 *
 * Exit status: 0 all taken, 2 some lines refused, 1 it could not run.
 */
export async function importFile(args: string[]): Promise<number> {
  const isStrict = args.includes('--strict');
  const [file, ...more] = args.filter((argument) => argument !== '--strict');
  if (file === undefined || more.length > 0 || /^-./.test(file)) {
    process.stderr.write(usage);
    return 1;
  }
  const { databaseUrl } = readConfig();
  await using input = await openInput(file);
  const database = await openDatabase(databaseUrl);
  const report = new Report(process.stderr);
  try {
    await takeAll(database, input.bytes, report, isStrict);
  } finally {
    // Also where it could not go on: what stands is kept.
    report.clearProgress();
    process.stdout.write(report.summary());
    await database.close();
  }
  return report.refused > 0 ? 2 : 0;
}

async function takeAll(
  { transaction }: Database,
  bytes: AsyncIterable<Buffer>,
  report: Report,
  isStrict: boolean,
): Promise<void> {
  for await (const entries of readBatches(bytes)) {
    report.add(await transaction((db) => writeBatch(db, entries, isStrict)));
    if (isStrict && report.refused > 0) return;
  }
}
