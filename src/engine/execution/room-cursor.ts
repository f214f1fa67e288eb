import { createFieldSearch } from './selects-field.ts';

/**
 * Whether a document selects `Room.cursor`. Nothing else that such an operation reads may be older than the cursor,
 * wherever the cursor stands: a query and an event read all from one state of the database, a mutation takes the
 * positions of rooms from the state before it.
 */
export const selectsRoomCursor = createFieldSearch('Room', 'cursor');
