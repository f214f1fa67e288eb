import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { build } from 'rolldown';
import { bundledPackages, bundleFolder } from './bundled-packages.ts';

/**
 * Bundles the packages with the most files, before the first test. Each process that a test starts would otherwise load
 * about 800 small files of packages, which takes most of its processor time. `src` is not bundled.
 */
export default async function bundlePackages(): Promise<void> {
  if (existsSync(bundleFolder)) return;
  const folder = `${bundleFolder}.${process.pid}`;
  await build({
    input: Object.fromEntries(bundledPackages.map((name) => [name, name])),
    platform: 'node',
    // Without `development`, as in the program.
    resolve: { conditionNames: ['module', 'node', 'import', 'default'] },
    output: { dir: folder, entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' },
    logLevel: 'silent',
  });
  // Another run may have finished first.
  await rename(folder, bundleFolder).catch(() => rm(folder, { recursive: true }));
}
