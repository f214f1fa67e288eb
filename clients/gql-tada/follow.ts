import { postParts, roomEvents, roomPage } from './documents.ts';
import { readFragment } from './graphql.ts';
import { createPostroom } from './postroom.ts';

/* Prints each event of ROOM as a line of JSON. */

const { POSTROOM_URL = 'http://127.0.0.1:4000/graphql', TOKEN, ROOM = '' } = process.env;
const postroom = createPostroom({ url: POSTROOM_URL, token: TOKEN });
const { room } = await postroom.execute(roomPage, { room: ROOM });
if (!room) throw new Error(`There is no room ${ROOM}.`);
console.log(JSON.stringify({ ready: true }));
for await (const { data, errors } of postroom.subscribe(roomEvents, { room: ROOM, after: room.cursor })) {
  const event = data?.roomEvents;
  const title = event?.__typename === 'PostCreated' ? readFragment(postParts, event.post)?.title : undefined;
  console.log(JSON.stringify({ event: event?.__typename, title, errors }));
}
