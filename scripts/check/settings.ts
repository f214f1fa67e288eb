import { generateKeyPairSync } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Tokens } from 'marked';
import { type Config, listSettings, readConfig } from '../../src/config/config.ts';
import { inRepository } from '../repository.ts';
import { readDocuments } from './documents.ts';

interface DocumentedSetting {
  name: string;
  /** Undefined if the default is described in words, such as "none". */
  defaultValue: string | undefined;
}

/** The settings that differ between src/config/config.ts and the table of settings in the README. */
export async function checkSettings(root = inRepository()): Promise<string[]> {
  const documented = await readDocumentedSettings(root);
  const names = documented.map(({ name }) => name);
  const read = listSettings();
  return [
    ...read.filter((name) => !names.includes(name)).map((name) => `README.md: the setting ${name} is missing`),
    ...names.filter((name) => !read.includes(name)).map((name) => `README.md: there is no setting ${name}`),
    ...documented.flatMap(checkDefault),
    ...findHiddenDefaults(documented),
  ];
}

/** The rows of the table of settings in the README. */
export async function readDocumentedSettings(root: string): Promise<DocumentedSetting[]> {
  const readme = (await readDocuments(root)).find(({ path }) => path === 'README.md');
  const table = readme?.tokens.find((token) => token.type === 'table' && token.header[0]?.text === 'setting');
  return table?.type === 'table' ? table.rows.flatMap(readRow) : [];
}

/** A row has one or more settings, and the default of each in the same order. */
function readRow([names, defaults]: Tokens.TableCell[]): DocumentedSetting[] {
  const values = listCode(defaults);
  return listCode(names).map((name, index) => ({ name, defaultValue: values[index] }));
}

/** The texts between backticks in a cell of a table. */
export function listCode(cell: Tokens.TableCell | undefined): string[] {
  return (cell?.tokens ?? []).flatMap((token) => (token.type === 'codespan' ? token.text : []));
}

/** A default that is written as code must have the same effect as no value. */
function checkDefault({ name, defaultValue }: DocumentedSetting): string[] {
  if (defaultValue === undefined) return [];
  const isTrue = isDeepStrictEqual(readOrUndefined({ [name]: defaultValue }), readConfig({}));
  return isTrue ? [] : [`README.md: ${defaultValue} is not the default of ${name}`];
}

/** A default may be described in words only if the configuration has no value for the setting. */
function findHiddenDefaults(documented: readonly DocumentedSetting[]): string[] {
  const names = documented.flatMap(({ name, defaultValue }) =>
    // The path of a file has no default of its own.
    defaultValue === undefined && !name.endsWith('_FILE') ? [name] : [],
  );
  const changed = readOrUndefined(Object.fromEntries(names.map((name) => [name, exampleOf(name)])));
  const isAbsent = (value: unknown) => value === undefined || isDeepStrictEqual(value, []);
  const hasOnlyAbsent =
    changed &&
    Object.entries(readConfig({})).every(
      ([key, value]) => isAbsent(value) || isDeepStrictEqual(value, changed[key as keyof Config]),
    );
  return hasOnlyAbsent ? [] : [`README.md: one of ${names.join(', ')} has a default that is not written as code`];
}

const examples: Record<string, string> = {
  REDIS_URL: 'redis://example.org',
  SESSION_KEY: String(generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' })),
  METRICS_PORT: '9090',
  METRICS_NETWORKS: '10.0.0.0/8',
  OTEL_EXPORTER_OTLP_HEADERS: 'name=value',
  OTEL_RESOURCE_ATTRIBUTES: 'name=value',
};

function exampleOf(name: string): string {
  return examples[name] ?? 'https://example.org';
}

function readOrUndefined(environment: Record<string, string>): Config | undefined {
  try {
    return readConfig(environment);
  } catch {
    return undefined;
  }
}
