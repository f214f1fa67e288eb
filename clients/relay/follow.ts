import { createEnvironment } from './environment.ts';
import { openRoom } from './room-view.ts';

/* Prints each event of ROOM as a line of JSON. */

const { POSTROOM_URL = 'http://127.0.0.1:4000/graphql', TOKEN, ROOM = '' } = process.env;
const { follow } = await openRoom(createEnvironment(POSTROOM_URL, TOKEN).environment, ROOM);
follow(({ __typename, post }) => print({ event: __typename, title: post?.title }), console.error);
print({ ready: true });

function print(line: object): void {
  console.log(JSON.stringify(line));
}
