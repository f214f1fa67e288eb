import { readFileSync } from 'node:fs';

/** Stands in the variables for the id of the room that will be created. */
export const roomPlaceholder = 'the id of the room';

/** On a small screen the editor shows 48 columns, so the lines of the documents are at most this long. */
const documents = readFileSync(new URL('./tabs.graphql', import.meta.url), 'utf8').split(/\r?\n# ----\r?\n\r?\n/);
const credentials = { email: 'emmy@example.org', password: 'correct horse' };
/** By the first operation of their tab. */
const variables: Record<string, object> = {
  SignUp: { account: { name: 'Emmy', ...credentials }, room: { name: 'harbour' }, credentials },
  CreatePost: { post: { room: roomPlaceholder, title: 'Hello', body: 'The first post.' } },
  WatchRoom: { room: roomPlaceholder },
  MyRooms: { mark: { room: roomPlaceholder } },
  WhoIsHere: { room: roomPlaceholder, visible: true },
  SetTyping: { input: { room: roomPlaceholder, typing: true } },
};

/** The tabs of a user without saved tabs; a tab is named after its first operation. */
export const tabs: readonly { query: string; variables?: string }[] = documents.map((query) => {
  const [, name = ''] = /^(?:query|mutation|subscription) (\w+)/m.exec(query) ?? [];
  const given = variables[name];
  return { query, ...(given && { variables: JSON.stringify(given, null, 2) }) };
});
