import { ask } from './ask.ts';
import { follow, openBrowser, openPage } from './page.ts';
import { url } from './settings.ts';

const room = process.env['ROOM'] ?? '';
const { cursor } = (
  await ask<{ room: { cursor: string } }>('query ($room: ID!) { room(id: $room) { cursor } }', { room })
).room;
const page = await openPage(await openBrowser());
await follow(
  page,
  { url, room, after: cursor },
  {
    event: ({ __typename: event, post }) => console.log(JSON.stringify({ event, title: post?.title })),
    end(code) {
      throw new Error(code);
    },
  },
);
console.log(JSON.stringify({ ready: true }));
