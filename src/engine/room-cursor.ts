import { type DocumentNode, TypeInfo, type ValidatedExecutionArgs, visit, visitWithTypeInfo } from 'graphql';

const known = new WeakMap<DocumentNode, boolean>();

/**
 * Whether a document selects `Room.cursor`. Nothing else that such an operation reads may be older than the cursor,
 * wherever the cursor stands: a query and an event read all from one state of the database, a mutation takes the
 * positions of rooms from the state before it.
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
