import { type DocumentNode, TypeInfo, type ValidatedExecutionArgs, visit, visitWithTypeInfo } from 'graphql';

const known = new WeakMap<DocumentNode, boolean>();

/**
 * Whether a document selects `Room.cursor`. All else that such an operation reads must not be older than the cursor,
 * wherever the cursor stands: it reads from one snapshot.
 */
export function selectsRoomCursor({ document, schema }: ValidatedExecutionArgs): boolean {
  const answer = known.get(document);
  if (answer !== undefined) return answer;
  let found = false;
  const typeInfo = new TypeInfo(schema);
  const look = visitWithTypeInfo(typeInfo, {
    Field({ name }) {
      found ||= name.value === 'cursor' && typeInfo.getParentType()?.name === 'Room';
    },
  });
  visit(document, look);
  known.set(document, found);
  return found;
}
