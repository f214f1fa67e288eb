import { globSync, readFileSync } from 'node:fs';

/** The test files of which the first line is `tag`, without those of `npm run test:soak`. */
export function findTagged(tag: string): string[] {
  return globSync(['test/*/*.test.ts', 'examples/extensions/*/*.test.ts']).filter((file) =>
    readFileSync(file, 'utf8').startsWith(`${tag}\n`),
  );
}
