import { readFileSync } from 'node:fs';
import { BadSetting } from './bad-setting.ts';

/** The settings that can also be given as the path of a file, in a variable whose name ends with `_FILE`. */
const secretSettings = [
  'DATABASE_URL',
  'SESSION_KEY',
  'REDIS_URL',
  'OAUTH_CLIENT_SECRET',
  'OTEL_EXPORTER_OTLP_HEADERS',
] as const;

export interface Secret {
  path: string;
  value: string;
}

/**
 * Reads the secrets that are given as files, by the names of their settings. What is wrong is added to `bad`; no message
 * contains the content of a file.
 */
export function readSecretFiles(
  environment: Readonly<Record<string, string | undefined>>,
  bad: unknown[],
): ReadonlyMap<string, Secret> {
  const secrets = new Map<string, Secret>();
  for (const name of secretSettings) {
    const path = environment[`${name}_FILE`];
    if (!path) continue;
    try {
      if (environment[name]) throw new BadSetting(`${name}_FILE`, path, `must not be set together with ${name}`);
      secrets.set(name, { path, value: readSecret(`${name}_FILE`, path) });
    } catch (error) {
      bad.push(error);
    }
  }
  return secrets;
}

/** The content without the final line break that editors and `echo` add. */
function readSecret(name: string, path: string): string {
  const rule = 'must be the path of a readable file';
  let content: string;
  try {
    content = readFileSync(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new BadSetting(name, path, `${rule}; reading it failed with ${code}`);
  }
  const value = content.replace(/\r?\n$/, '');
  if (value === '') throw new BadSetting(name, path, `${rule}; it is empty`);
  return value;
}
