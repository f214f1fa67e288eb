import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { blankComments } from './blank-comments.ts';
import { findTypeScriptFiles, inRepository } from './repository.ts';

const onlyReader = 'src/config.ts';

const readings = [
  /\bprocess\b\s*!?\s*\??\.\s*env\b/,
  /\bprocess\b\s*(\?\.)?\s*\[\s*['"]env['"]/,
  /\{[^{}]*\benv\b[^{}]*\}\s*=\s*(globalThis\s*\.\s*)?process\b/,
  /\bimport\s*\{[^}]*\benv\b[^}]*\}\s*from\s*['"](node:)?process['"]/,
];

export function readsEnvironment(text: string): boolean {
  const code = blankComments(text);
  return readings.some((reading) => reading.test(code));
}

/** The files of src/ that read the environment themselves instead of being given their settings. */
export async function checkEnvironment(root = inRepository()): Promise<string[]> {
  const problems = findTypeScriptFiles('src', root).map(async (file) =>
    file !== onlyReader && readsEnvironment(await readFile(join(root, file), 'utf8'))
      ? [`${file} reads process.env: a setting stands in ${onlyReader} and is handed on`]
      : [],
  );
  return (await Promise.all(problems)).flat();
}
