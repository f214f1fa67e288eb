import { type Config, findMistakenSettings, readConfig, readSetting } from '../config/config.ts';
import { inspectDatabase } from '../data/database/open-database.ts';
import { latestVersion } from '../data/migrations/migrate.ts';
import { createDocumentCheck } from '../engine/documents/document-check.ts';
import { loadTrustedDocuments } from '../engine/documents/trusted.ts';
import { loadExtensions } from '../engine/extensions/load.ts';
import { loadSchema } from '../engine/schema.ts';
import { ClientError } from '../errors.ts';
import { readGivenKeys, readStoredKeys } from '../identity/session/session-key.ts';
import { probeBus } from '../live/bus/open-bus.ts';
import { assertAddressesFree } from './address.ts';
import { explainFailures, WrongArguments } from './failure.ts';

/** What must be set before the first user comes, and why the default is not enough. The README has the same list. */
const production: [string, RegExp, string][] = [
  ['PUBLIC_URL', /^https:/, 'must be the https URL of your proxy: without TLS, others read passwords and tokens'],
  ['TRUST_PROXY', /\d/, 'must be the number of proxies: without it, all clients share the limits of one address'],
  ['DATABASE_URL', /^(sqlite:\/|postgres)/, 'must be sqlite:/PATH or postgres://…, so that each start finds the data'],
  ['SESSION_KEY', /./, 'must be a key that you keep: backups contain none, and without it all sessions end'],
  ['METRICS_PORT', /\d/, 'must be a port that no proxy leads to, so that clients cannot read the metrics'],
];

const lastOldest = '26.13.1';
/** For each major version, the oldest release of Node without known vulnerabilities that reach a server: SECURITY.md. */
const oldestReleases = ['24.22.3', lastOldest];

/**
 * `validate [--production]`: validates settings, schema, database and bus, and changes nothing. Prints a line for each, and one
 * for each problem; an old Node is only a warning. Returns 0 if a server can start (and nothing above is missing), else 1.
 */
export async function validate(args: string[]): Promise<number> {
  const isProduction = args.join(' ') === '--production';
  if (args.length > 0 && !isProduction) throw new WrongArguments('validate [--production]');
  const vulnerable = findVulnerableNode();
  if (vulnerable) process.stdout.write(`node: warning: ${vulnerable}\n`);
  let config: Config | undefined;
  const results = [
    await report('settings', async () => {
      config = readConfig();
      readGivenKeys(config);
      // Any port, because a server may use its own now.
      await assertAddressesFree({ ...config, port: 0, metricsPort: undefined });
      const mistaken = findMistakenSettings();
      return mistaken.map(({ variable, setting }) => `${variable} has no effect (${setting}?)`).join(', ');
    }),
    await report('schema', () => checkSchema(config)),
  ];
  const given = config;
  if (given) {
    results.push(await report('database', () => checkDatabase(given)));
    results.push(await report('bus', () => probeBus(given)));
  }
  if (isProduction) results.push(await report('production', checkProduction));
  return results.every(Boolean) ? 0 : 1;
}

/** What is wrong with a release of Node that has known vulnerabilities. Other major versions are compared with the last. */
function findVulnerableNode(release = process.versions.node): string | undefined {
  const [major] = release.split('.');
  const oldest = oldestReleases.find((each) => each.startsWith(`${major}.`)) ?? lastOldest;
  if (release.localeCompare(oldest, 'en', { numeric: true }) >= 0) return undefined;
  return `${release} has known vulnerabilities; ${oldestReleases.join(' and ')} are the oldest releases without them`;
}

function checkProduction(): string {
  const missing = production.filter(([name, expected]) => !expected.test(readSetting(name)));
  if (missing.length === 0) return '';
  throw new AggregateError(missing.map(([name, , rule]) => new ClientError('VALIDATION_ERROR', `${name} ${rule}`)));
}

/** Prints the result of a part of the validation. Returns false if it failed. */
async function report(part: string, work: () => string | Promise<string>): Promise<boolean> {
  try {
    const note = await work();
    process.stdout.write(`${part}: ok${note && `, ${note}`}\n`);
    return true;
  } catch (error) {
    for (const reason of explainFailures(error)) process.stdout.write(`${part}: failed: ${reason}\n`);
    return false;
  }
}

async function checkSchema(config: Config | undefined): Promise<string> {
  const schema = loadSchema(await loadExtensions(config?.extensions ?? []));
  if (config?.trustedDocuments === undefined) return '';
  loadTrustedDocuments(config.trustedDocuments, createDocumentCheck(schema, config));
  return `trusted documents of ${config.trustedDocuments}`;
}

async function checkDatabase({ databaseUrl, sessionKey }: Config): Promise<string> {
  const state = await inspectDatabase(databaseUrl);
  if (sessionKey === undefined) readStoredKeys(state);
  const { name, version } = state;
  if (version === undefined) return `${name}, whose tables the server will create`;
  if (version >= latestVersion) return `${name}, version ${version}`;
  return `${name}, version ${version}, which the server will migrate to ${latestVersion}`;
}
