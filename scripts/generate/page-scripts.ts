import { rolldown } from 'rolldown';
import { inRepository } from '../repository.ts';

/** The global variables of packages whose scripts the page includes unmodified. */
const globals = { 'graphql-ws': 'graphqlWs' };

/** The script of a page: its modules in one scope, because a policy with hashes allows no imports. */
export async function bundlePage(start: string): Promise<string> {
  const bundle = await rolldown({ input: inRepository(start), external: Object.keys(globals), platform: 'browser' });
  const { output } = await bundle.generate({ format: 'iife', globals, comments: false });
  await bundle.close();
  const { code } = output[0];
  if (code.includes('</script')) throw new Error(`The bundle of ${start} contains the end of a script element.`);
  return `// Generated from ${start} by \`npm run generate\`. Do not edit.\n${code}`;
}
