import { createFieldSearch } from './selects-field.ts';

/**
 * Whether a document selects `Room.cursor` anywhere. Such an operation must not read data that is older than the
 * cursor. A query and an event therefore read everything from one snapshot of the database, and a mutation takes the
 * positions of rooms from a snapshot before its changes.
 */
export const selectsRoomCursor = createFieldSearch('Room', 'cursor');
