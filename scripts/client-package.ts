import { rename, rm } from 'node:fs/promises';
import { inRepository, runInstalled } from './repository.ts';

/**
 * Builds the JavaScript of @postroom/client, in packages/client/dist: Node refuses to run TypeScript in node_modules.
 * Another process may use the folder, or build it, too: it is replaced when the new one is complete.
 */
export async function buildClientPackage(): Promise<void> {
  const folder = inRepository('packages/client/dist');
  const draft = `${folder}.${process.pid}`;
  const { status, stdout } = await runInstalled('tsc', [
    '-p',
    'packages/client/tsconfig.build.json',
    '--outDir',
    draft,
  ]);
  if (status !== 0) throw new Error(`tsc could not build @postroom/client:\n${stdout}`);
  const earlier = `${draft}.earlier`;
  await rename(folder, earlier).catch(() => undefined);
  await rename(draft, folder).catch(() => rm(draft, { recursive: true }));
  await rm(earlier, { recursive: true, force: true });
}
