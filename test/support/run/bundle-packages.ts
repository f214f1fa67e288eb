import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { build, type Plugin } from 'rolldown';
import { bundledPackages, bundleFolder } from './bundled-packages.ts';

const entry = '\0entry:';

/** The entry of each package lists its exports: the bundle of a CommonJS package would have only a default export. */
const listExports: Plugin = {
  name: 'list-exports',
  resolveId: (id) => (id.startsWith(entry) ? id : undefined),
  async load(id) {
    if (!id.startsWith(entry)) return undefined;
    const name = id.slice(entry.length);
    const exported = Object.keys(await import(name)).filter((key) => /^\w+$/.test(key));
    return `export { ${exported} } from '${name}';`;
  },
};

/**
 * Bundles the packages with the most files, before the first test. Each process that a test starts would otherwise load
 * about 900 small files of packages, which takes most of its processor time. `src` is not bundled.
 */
export default async function bundlePackages(): Promise<void> {
  if (existsSync(bundleFolder)) return;
  const folder = `${bundleFolder}.${process.pid}`;
  await build({
    input: Object.fromEntries(bundledPackages.map((name) => [name, entry + name])),
    plugins: [listExports],
    platform: 'node',
    // Without `development`, as in the program.
    resolve: { conditionNames: ['module', 'node', 'default'] },
    output: { dir: folder, entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' },
    logLevel: 'silent',
  });
  // Another run may have finished first.
  await rename(folder, bundleFolder).catch(() => rm(folder, { recursive: true }));
}
