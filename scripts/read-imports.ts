import { blankTemplates } from './blank-comments.ts';

export interface Import {
  /** What stands between the quotes; undefined where it is computed, so that no reader can know. */
  from: string | undefined;
  /** Whether the whole statement is erased: `import type`, `export type`. */
  isType: boolean;
}

const staticImport =
  /^[ \t]*(?:import|export)\b(?:(?<clause>[\w\s{},*$]*)\bfrom)?\s*(?<quote>['"])(?<from>.+?)\k<quote>/gm;
const dynamicImport = /\bimport\s*\(\s*(?:(?<quote>['"])(?<from>.+?)\k<quote>)?/g;

/** Every import, re-export and dynamic import of a TypeScript text. */
export function readImports(text: string): Import[] {
  const code = blankTemplates(text);
  return [...code.matchAll(staticImport), ...code.matchAll(dynamicImport)].map(({ groups }) => ({
    from: groups?.['from'],
    isType: /^\s+type\s/.test(groups?.['clause'] ?? ''),
  }));
}
