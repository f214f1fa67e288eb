import { existsSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { dirname, extname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { BadSetting } from '../../config/bad-setting.ts';
import type { Extension, LoadedExtension } from '../../resolvers/extensions/extension.ts';

/** What extensions import: this program's own module, wherever their files are, so that there is only one of each class. */
const specifier = '@postroom/server/extension';
const modules = ['index.ts', 'index.js'];

/**
 * Imports the extensions that EXTENSIONS names: folders, relative to the working folder, and packages.
 * @throws AggregateError of BadSettings, one for each extension that cannot be loaded.
 */
export async function loadExtensions(names: readonly string[]): Promise<LoadedExtension[]> {
  if (names.length === 0) return [];
  const own = new URL(`../../extension${extname(import.meta.url)}`, import.meta.url).href;
  const parentURL = pathToFileURL(resolve('package.json')).href;
  const hooks = registerHooks({
    resolve: (request, context, next) =>
      request === specifier
        ? { url: own, shortCircuit: true }
        : next(request, names.includes(request) ? { ...context, parentURL } : context),
  });
  try {
    const results = await Promise.allSettled(names.map(loadExtension));
    const failures = results.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    if (failures.length > 0) throw new AggregateError(failures);
    return results.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  } finally {
    hooks.deregister();
  }
}

async function loadExtension(name: string): Promise<LoadedExtension> {
  const file = findModule(name);
  const schemaFile = join(dirname(file), 'schema.graphql');
  if (!existsSync(schemaFile)) throw refusal(name, `there is no ${schemaFile}`);
  const sdl = readFileSync(schemaFile, 'utf8');
  const { default: extension } = await importModule(name, file);
  if (typeof extension?.name !== 'string') throw refusal(name, `the default export of ${file} is not an extension`);
  return { ...extension, sdl };
}

async function importModule(name: string, file: string): Promise<{ default?: Extension }> {
  try {
    return await import(pathToFileURL(file).href);
  } catch (error) {
    throw refusal(name, `${file} cannot be imported: ${error instanceof Error ? error.message : error}`);
  }
}

/** The file of a folder, or the entry of a package that is installed for the working folder. */
function findModule(name: string): string {
  if (isAbsolute(name) || name.startsWith('.')) {
    const files = modules.map((module) => resolve(name, module));
    const found = files.find((file) => existsSync(file));
    if (found === undefined) throw refusal(name, `there is no ${files.join(' or ')}`);
    return found;
  }
  try {
    return fileURLToPath(import.meta.resolve(name));
  } catch {
    throw refusal(name, 'there is no package of this name here; the name of a folder begins with ./ or /');
  }
}

function refusal(name: string, reason: string): BadSetting {
  return new BadSetting('EXTENSIONS', name, `must be folders and packages with an extension: ${reason}`);
}
