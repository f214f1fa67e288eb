import { type DocumentNode, type FragmentDefinitionNode, Kind, type SelectionSetNode } from 'graphql';

export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/**
 * How many pairs of fields with selections of their own share a response name once all fragments are spread out: so many
 * selections are to be held against each other before an answer can have one shape. It takes as long as the document is
 * large with its fragments spread out, which must be known to end.
 */
export function countFieldPairs(document: DocumentNode, fragments: Fragments): number {
  const countAmong = (selectionSets: readonly SelectionSetNode[]): number => {
    const groups = [...groupByResponseName(selectionSets, fragments).values()];
    return groups.reduce((sum, group) => sum + (group.length * (group.length - 1)) / 2 + countAmong(group), 0);
  };
  return document.definitions.reduce(
    (sum, node) => sum + (node.kind === Kind.OPERATION_DEFINITION ? countAmong([node.selectionSet]) : 0),
    0,
  );
}

/** What is selected below each response name; a fragment counts once, however often it is spread. */
function groupByResponseName(
  selectionSets: readonly SelectionSetNode[],
  fragments: Fragments,
): Map<string, SelectionSetNode[]> {
  const groups = new Map<string, SelectionSetNode[]>();
  const spread = new Set<string>();
  const collect = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const name = selection.name.value;
        const fragment = spread.has(name) ? undefined : fragments.get(name);
        spread.add(name);
        if (fragment) collect(fragment.selectionSet);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        collect(selection.selectionSet);
      } else if (selection.selectionSet) {
        const name = (selection.alias ?? selection.name).value;
        const group = groups.get(name);
        if (group) group.push(selection.selectionSet);
        else groups.set(name, [selection.selectionSet]);
      }
    }
  };
  for (const selectionSet of selectionSets) collect(selectionSet);
  return groups;
}
