import { BadSetting } from '../config.ts';
import type { Database, DatabaseOptions, ImplementationOptions } from './database.ts';
import { openPostgres, postgresUrlForm } from './postgres/database.ts';
import { openSqlite } from './sqlite/database.ts';
import { withTimings } from './timed-database.ts';
import { createTimings } from './timings.ts';

interface Implementation {
  /** The part of the error message that says which URLs are allowed. */
  urlForm: string;
  /** `address` is the URL without its scheme. */
  open: (address: string, options: ImplementationOptions) => Promise<Database>;
}

const postgres = { urlForm: postgresUrlForm, open: openPostgres };
/** The implementations by the scheme of `DATABASE_URL`. */
const implementations = new Map<string, Implementation>([
  ['sqlite', { urlForm: 'sqlite: with a path, or sqlite::memory:', open: openSqlite }],
  ['postgres', postgres],
  ['postgresql', postgres],
]);

/** Whether a `DATABASE_URL` is that of a server, which several nodes may share. */
export function isPostgresUrl(url: string): boolean {
  return implementations.get(schemeOf(url)) === postgres;
}

/**
 * Opens the database of a `DATABASE_URL` and brings its tables up to date.
 * @throws BadSetting if the scheme is unknown; DatabaseUnusable if the database is corrupt, not writable, or newer than
 * this program.
 */
export async function openDatabase(url: string, options: DatabaseOptions = {}): Promise<Database> {
  const scheme = schemeOf(url);
  const implementation = implementations.get(scheme);
  if (!implementation) {
    const urlForms = new Set([...implementations.values()].map(({ urlForm }) => urlForm));
    throw new BadSetting('DATABASE_URL', url, `must be ${[...urlForms].join(', or ')}`);
  }
  const { timings = createTimings() } = options;
  return withTimings(await implementation.open(url.slice(scheme.length + 1), { ...options, timings }), timings);
}

function schemeOf(url: string): string {
  return url.split(':', 1)[0] ?? '';
}
