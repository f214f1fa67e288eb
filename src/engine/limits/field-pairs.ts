import { type DocumentNode, type FragmentDefinitionNode, Kind, type SelectionSetNode } from 'graphql';

export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/**
 * Counts the pairs of fields that have selections and share a response name once all fragments are spread. These
 * selections must be compared before the answer can have one shape. The time is proportional to the size of the
 * document with its fragments spread, so the document must not have cyclic fragments.
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

/** Groups selection sets by response name. A fragment counts once, however often it is spread. */
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
