import { type DocumentNode, TypeInfo, type ValidatedExecutionArgs, visit, visitWithTypeInfo } from 'graphql';

type Selects = (args: Pick<ValidatedExecutionArgs, 'document' | 'schema'>) => boolean;

/**
 * Creates a function that finds whether a document selects a field anywhere. The result is cached for each document.
 */
export function createFieldSearch(typeName: string, fieldName: string): Selects {
  const known = new WeakMap<DocumentNode, boolean>();
  return ({ document, schema }) => {
    const answer = known.get(document);
    if (answer !== undefined) return answer;
    let found = false;
    const typeInfo = new TypeInfo(schema);
    const search = visitWithTypeInfo(typeInfo, {
      Field({ name }) {
        found ||= name.value === fieldName && typeInfo.getParentType()?.name === typeName;
      },
    });
    visit(document, search);
    known.set(document, found);
    return found;
  };
}
