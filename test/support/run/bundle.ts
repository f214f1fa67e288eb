import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'rolldown';
import type { TestProject } from 'vitest/node';
import { inRepository } from '../../../scripts/repository.ts';
import { bundledPackages, bundleFolder, cacheFolder, compileCacheFolder } from './bundled-packages.ts';
import { fastHash } from './fast-hash.ts';

/*
 * Before the first test, the program and the packages with the most files are bundled. Each process that a test starts
 * would otherwise load about 1,200 small files, which takes most of its processor time.
 */

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

/** Files that the program finds from a module, such as the code of a thread, are those in `src`. */
const keepModuleUrls: Plugin = {
  name: 'keep-module-urls',
  transform: (code, id) => code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href)),
};

/**
 * Each process, and each of its threads, loads this before its program, so it is JavaScript: to strip types from it took
 * longer than the rest of it.
 */
const useBundles = `import { registerHooks } from 'node:module';

const bundles = new Map(${JSON.stringify(bundledPackages.map((name) => [name, urlOfBundle(name)]))});
registerHooks({
  resolve(name, context, resolveNext) {
    const url = bundles.get(name);
    return url === undefined ? resolveNext(name, context) : { url, shortCircuit: true };
  },
});
`;

const hashFast: Plugin = {
  name: 'hash-fast',
  transform(code, id) {
    if (!id.endsWith('/src/identity/session/passwords.ts')) return undefined;
    const cost = /(recommendedCost\b.*?= )\{.*?\}/;
    if (!cost.test(code)) throw new Error(`${id} does not define recommendedCost`);
    return code.replace(cost, `$1${JSON.stringify(fastHash)}`);
  },
};

/** The long tests hash as users' servers do: some need the time that it takes. */
export default async function bundle({ config }: TestProject): Promise<void> {
  // Threads of servers in the processes of the tests would strip the types from their program each time.
  process.env['NODE_COMPILE_CACHE'] = compileCacheFolder;
  await bundlePackages();
  process.env['POSTROOM_TEST_PROGRAM'] = await bundleProgram(config.env['SOAK'] === undefined ? [hashFast] : []);
}

async function bundlePackages(): Promise<void> {
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
  await writeFile(join(folder, 'use-bundles.mjs'), useBundles);
  await publish(folder, bundleFolder);
}

/** The folder is named by its content, so that the cache of compiled code serves later runs. */
async function bundleProgram(plugins: Plugin[]): Promise<string> {
  const { output } = await build({
    input: inRepository('src/main.ts'),
    plugins: [keepModuleUrls, ...plugins],
    platform: 'node',
    external: /^[^./]/,
    output: { entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' },
    write: false,
  });
  const files = output.map((file) => ({ name: file.fileName, text: 'code' in file ? file.code : file.source }));
  const hash = createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 16);
  const folder = join(cacheFolder, `program-${hash}`);
  if (!existsSync(folder)) {
    const draft = `${folder}.${process.pid}`;
    await mkdir(draft, { recursive: true });
    await Promise.all(files.map(({ name, text }) => writeFile(join(draft, name), text)));
    await publish(draft, folder);
  }
  return join(folder, 'main.mjs');
}

/** Another run, which may have finished first, uses the folder: its files are never written twice. */
async function publish(draft: string, folder: string): Promise<void> {
  await rename(draft, folder).catch(() => rm(draft, { recursive: true }));
}

function urlOfBundle(name: string): string {
  return pathToFileURL(`${bundleFolder}/${name}.mjs`).href;
}
