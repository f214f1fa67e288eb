import { readFileSync } from 'node:fs';

/** The version of Postroom. */
export const { version }: { version: string } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
);
