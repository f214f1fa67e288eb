import { type ConstDirectiveNode, valueFromASTUntyped } from 'graphql';

/** An element of the schema. */
export interface Annotated {
  astNode?: { readonly directives?: readonly ConstDirectiveNode[] | undefined } | null | undefined;
}

/** The arguments of a directive of the schema, as they are written; undefined without the directive. */
export function readDirective<Arguments>({ astNode }: Annotated, name: string): Arguments | undefined {
  const directive = astNode?.directives?.find((node) => node.name.value === name);
  if (!directive) return undefined;
  const given = directive.arguments ?? [];
  return Object.fromEntries(given.map((node) => [node.name.value, valueFromASTUntyped(node.value)])) as Arguments;
}
