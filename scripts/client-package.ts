import { rm } from 'node:fs/promises';
import { inRepository, runInstalled } from './repository.ts';

/** Builds the JavaScript of @postroom/client, in packages/client/dist: Node refuses to run TypeScript in node_modules. */
export async function buildClientPackage(): Promise<void> {
  await rm(inRepository('packages/client/dist'), { recursive: true, force: true });
  const { status, stdout } = await runInstalled('tsc', ['-p', 'packages/client/tsconfig.build.json']);
  if (status !== 0) throw new Error(`tsc could not build @postroom/client:\n${stdout}`);
}
