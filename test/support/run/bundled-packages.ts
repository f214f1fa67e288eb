import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The packages with the most files. */
export const bundledPackages: readonly string[] = [
  '@opentelemetry/api',
  'graphql',
  'graphql-yoga',
  'jose',
  'kysely',
  'pg',
  'pino',
  'prom-client',
  'ws',
];

const root = fileURLToPath(new URL('../../../', import.meta.url));
const versions = createHash('sha256')
  .update(readFileSync(`${root}package-lock.json`))
  .update(readFileSync(new URL('./bundle.ts', import.meta.url)))
  .digest('hex')
  .slice(0, 16);

export const cacheFolder = `${root}node_modules/.cache/test-bundles`;

/** Where the bundles of these versions are stored. */
export const bundleFolder = `${cacheFolder}/${versions}`;

/** Loaded before a program with `node --import`. */
export const useBundles = `${bundleFolder}/use-bundles.mjs`;

/** The compiled code of the processes and threads that tests start. */
export const compileCacheFolder = `${root}node_modules/.cache/postroom`;
