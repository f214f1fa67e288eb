import { hash } from 'node:crypto';
import { type DocumentNode, Kind, type OperationDefinitionNode, print, visit } from 'graphql';

/** Facts about a subscription that do not depend on its variables and its viewer. */
export interface SubscriptionTraits {
  /** Equal for equal operations of equal documents. */
  id: string;
  /** Set permanently when an execution for an event reads the viewer: the results then differ between viewers. */
  isPersonal: boolean;
  /**
   * A variable that is used only as the argument `after`. It is left out of the group's key, so that resuming
   * subscribers share a group.
   */
  resumeVariable: string | undefined;
}

export function findSubscriptionTraits(document: DocumentNode, operation: OperationDefinitionNode): SubscriptionTraits {
  const text = document.loc?.source.body ?? print(document);
  const id = hash('sha256', `${operation.name?.value ?? ''} ${text}`, 'base64url');
  return { id, isPersonal: false, resumeVariable: findResumeVariable(operation, document) };
}

function findResumeVariable(operation: OperationDefinitionNode, document: DocumentNode): string | undefined {
  const [root] = operation.selectionSet.selections;
  const after =
    root?.kind === Kind.FIELD ? root.arguments?.find(({ name }) => name.value === 'after')?.value : undefined;
  if (after?.kind !== Kind.VARIABLE) return undefined;
  return countUses(after.name.value, operation, document) === 1 ? after.name.value : undefined;
}

/** Counts the uses of a variable in the operation and in all fragments of its document, without its definition. */
function countUses(name: string, operation: OperationDefinitionNode, document: DocumentNode): number {
  let uses = 0;
  visit(document, {
    OperationDefinition: (node) => (node === operation ? undefined : false),
    VariableDefinition: () => false,
    Variable(node) {
      if (node.name.value === name) uses += 1;
    },
  });
  return uses;
}
