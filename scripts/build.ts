import { cp, glob, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inRepository, runInstalled } from './repository.ts';

/*
 * npm pack runs this. It builds the JavaScript of the npm package, in dist/: Node refuses to run TypeScript in
 * node_modules.
 */

await rm(inRepository('dist'), { recursive: true, force: true });
const { status, stdout } = await runInstalled('tsc', ['-p', 'tsconfig.build.json']);
if (status !== 0) throw new Error(`tsc could not build the package:\n${stdout}`);
await nameJavaScriptWorkers();
await cp(inRepository('src'), inRepository('dist'), {
  recursive: true,
  filter: (path) => !path.endsWith('.ts'),
});

/** tsc rewrites the extension in `import './worker.ts'`, but not in `new URL('./worker.ts', import.meta.url)`. */
async function nameJavaScriptWorkers(): Promise<void> {
  for await (const file of glob('**/*.js', { cwd: inRepository('dist') })) {
    const path = join(inRepository('dist'), file);
    const code = await readFile(path, 'utf8');
    await writeFile(path, code.replace(/(?<=new URL\('\.[^']*)\.ts(?=', import\.meta\.url\))/g, '.js'));
  }
}
