import { type Config, findMistakenSettings, readConfig } from '../config.ts';
import { latestVersion } from '../data/migrations/migrate.ts';
import { inspectDatabase } from '../data/open-database.ts';
import { createPipeline } from '../engine/documents/pipeline.ts';
import { loadTrustedDocuments } from '../engine/documents/trusted.ts';
import { loadSchema } from '../engine/schema.ts';
import { assertStoredKeys, readGivenKeys } from '../identity/session/session-key.ts';
import { probeBus } from '../live/bus/open-bus.ts';
import { assertAddressesFree } from './address.ts';
import { explainFailures } from './failure.ts';
import { findVulnerableNode } from './node-release.ts';

/**
 * `check`: validates the settings, the schema, the database and the bus, and changes nothing. Prints a line for each, and
 * one for each problem. Returns 0 if a server can start, 1 if not. An old release of Node is only a warning.
 */
export async function check(args: string[]): Promise<number> {
  if (args.length > 0) {
    process.stderr.write('usage: postroom check   (settings are environment variables)\n');
    return 1;
  }
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
  return results.every(Boolean) ? 0 : 1;
}

/** Prints the result of a part of the check. Returns false if it failed. */
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

function checkSchema(config: Config | undefined): string {
  const schema = loadSchema();
  if (config?.trustedDocuments === undefined) return '';
  loadTrustedDocuments(config.trustedDocuments, createPipeline(schema, config));
  return `trusted documents of ${config.trustedDocuments}`;
}

async function checkDatabase({ databaseUrl, sessionKey }: Config): Promise<string> {
  const state = await inspectDatabase(databaseUrl);
  if (sessionKey === undefined) assertStoredKeys(state);
  const { name, version } = state;
  if (version === undefined) return `${name}, whose tables the server will create`;
  if (version >= latestVersion) return `${name}, version ${version}`;
  return `${name}, version ${version}, which the server will migrate to ${latestVersion}`;
}
