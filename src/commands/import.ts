import { readConfig } from '../config/config.ts';
import { openDatabase } from '../data/database/open-database.ts';
import { updateStatistics } from '../data/database/statistics.ts';
import { writeBatch } from '../import/batch.ts';
import { openInput, readBatches } from '../import/read-batches.ts';
import { Report } from '../import/report.ts';
import { WrongArguments } from './failure.ts';

/**
 * Imports rooms, users and posts into the database from a file with one JSON object per line:
 *
 *     { "type": "room", "name", "visibility" }
 *     { "type": "user", "name", "createdAt" }
 *     { "type": "post", "room", "author", "title", "body", "publishedAt" }
 *
 * The rules are those of the API with one exception: control characters in a title are replaced by spaces, because
 * titles are cut from bodies. The report counts such titles. A line that breaks a rule, has another field, or names a room
 * or user without an earlier record, is refused with its number and all reasons, and the import continues. With `--strict`
 * the import ends at this line, and the lines before it are kept. Records of an earlier run are recognised: a room by name
 * among the public rooms and those without an owner, a user by name among the users without credentials, a post by room,
 * author, time and body. Every batch is one transaction, so a run that was killed can be repeated.
 *
 * Exit status: 0 if all lines were imported, 2 if some were refused, 1 if the import could not run.
 */
export async function importFile(args: string[]): Promise<number> {
  const isStrict = args.includes('--strict');
  const [file, ...more] = args.filter((argument) => argument !== '--strict');
  if (file === undefined || more.length > 0 || /^-./.test(file))
    throw new WrongArguments('import FILE [--strict]   (.ndjson or .ndjson.gz; - reads standard input)');
  const { databaseUrl } = readConfig();
  await using input = await openInput(file);
  const database = await openDatabase(databaseUrl);
  const report = new Report(process.stderr, isStrict);
  try {
    for await (const entries of readBatches(input.bytes)) {
      report.add(await database.transaction((db) => writeBatch(db, entries, isStrict)));
      await updateStatistics(database);
      if (report.stoppedAt !== undefined) break;
    }
  } finally {
    // The report is also written after a failure, because committed batches are kept.
    report.clearProgress();
    process.stdout.write(report.summary());
    await database.close();
  }
  return report.refused > 0 ? 2 : 0;
}
