/*
 * The interface of extensions: `import { … } from '@postroom/server/extension'`. Postroom's own types use the same functions.
 * docs/extending.md
 */

export { sql } from 'kysely';
export type { ChangeRecord } from './changes/commit-change.ts';
export type { Db } from './data/database/database.ts';
export type { ConnectionArguments } from './data/lists/pages.ts';
export { ClientError, invalidInput } from './errors.ts';
export { assertMayPost, assertMember, assertNotMuted } from './identity/access.ts';
export type { Viewer } from './identity/viewer.ts';
export type { Context } from './resolvers/context.ts';
export { defineExtension, type Extension } from './resolvers/extensions/extension.ts';
export type { ExtensionRow } from './resolvers/extensions/extensions.ts';
export {
  changeNode,
  changePostRows as changePostAsViewer,
  changeRowsInRoom as changeInRoom,
  connectionOf,
  insertRow,
  load,
  newId,
  updateRow,
} from './resolvers/extensions/rows.ts';
export { fromRoomEvents } from './resolvers/room-event.ts';
export { assertVersion } from './resolvers/rules/conflicts.ts';
export { assertInput, given, optional, problemIf, required } from './resolvers/rules/input-check.ts';
export { body, name, title } from './resolvers/rules/validation.ts';
export { findVisiblePost, findVisibleRoom, type RoomAccess } from './resolvers/rules/visible-rows.ts';
