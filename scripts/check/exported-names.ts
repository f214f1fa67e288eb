import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { findTypeScriptFiles, inRepository } from '../repository.ts';

/** The names that a module declares and exports. */
function readExportedNames(code: string): string[] {
  const { module } = parseSync('module.ts', code);
  const entries = module.staticExports.flatMap((each) => each.entries);
  return entries.flatMap(({ exportName, moduleRequest }) => (moduleRequest ? [] : (exportName.name ?? [])));
}

/** The names that several files of src/ export: whoever meets one would have to look where it comes from. */
export async function checkExportedNames(root = inRepository()): Promise<string[]> {
  const files = findTypeScriptFiles('src', root).filter((path) => !path.endsWith('.generated.ts'));
  const exporters = new Map<string, string[]>();
  for (const path of files) {
    for (const name of readExportedNames(await readFile(join(root, path), 'utf8')))
      exporters.set(name, [...(exporters.get(name) ?? []), path]);
  }
  const repeated = [...exporters].filter(([, paths]) => paths.length > 1);
  return repeated.map(
    ([name, paths]) => `${name} is exported by ${paths.join(' and ')}: rename one, so that the name says which it is`,
  );
}
