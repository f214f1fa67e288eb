import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { inRepository, runInstalled } from '../repository.ts';
import type { Sample } from './documents.ts';

/** The packages of this repository, which need not be built. */
const paths = { '@postroom/client': [inRepository('packages/client/src/index.ts')] };

/** Not strict, because samples are JavaScript without annotations. */
const compilerOptions = {
  ...{ target: 'es2024', lib: ['es2024', 'dom'], module: 'nodenext', types: ['node'] },
  ...{ allowJs: true, checkJs: true, noEmit: true, strict: false, skipLibCheck: true },
  ...{ paths, allowImportingTsExtensions: true },
};

/** Packages of samples that this repository does not install. */
const declarations = "declare module 'relay-runtime';\n";

/** The type errors of the modules among the samples. */
export async function checkTypes(samples: readonly Sample[]): Promise<string[]> {
  const modules = samples.filter(({ language, code }) => /^[jt]s$/.test(language) && /^(import|export)\b/m.test(code));
  if (modules.length === 0) return [];
  const folder = await mkdtemp(join(tmpdir(), 'postroom-samples-'));
  try {
    await writeModules(folder, modules);
    const { stdout } = await runInstalled('tsc', ['-p', folder, '--pretty', 'false']);
    return stdout.split('\n').flatMap(readError);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The samples of a document are in one folder, so that they can import each other. */
async function writeModules(folder: string, modules: readonly Sample[]): Promise<void> {
  await symlink(inRepository('node_modules'), join(folder, 'node_modules'));
  const files = Object.fromEntries(modules.map((sample) => [nameModule(sample), sample.code]));
  const all: Record<string, string> = {
    ...files,
    'package.json': '{ "type": "module" }',
    'tsconfig.json': JSON.stringify({ compilerOptions, files: ['declarations.d.ts', ...Object.keys(files)] }),
    'declarations.d.ts': declarations,
  };
  for (const [name, text] of Object.entries(all)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}

/** The name is that of the comment in the first line, or else the line of the sample. */
function nameModule({ place, path, language, code }: Sample): string {
  const [, name] = /^\/\/ (\S+)\n/.exec(code) ?? [];
  return `${path}/${name ?? `${place.split(':')[1]}.${language}`}`;
}

/** JavaScript may read a property of a value whose type is unknown. The packages have a stricter check of their own. */
function readError(line: string): string[] {
  const isError = line.includes('error TS') && !line.includes("on type 'unknown'") && !line.startsWith('packages/');
  return isError ? [line.replace(/^\S*postroom-samples-\w+\//, '')] : [];
}
