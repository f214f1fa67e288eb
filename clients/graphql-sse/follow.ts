import { ask } from './ask.ts';
import { type RoomEvents, roomCursor, roomEvents } from './documents.ts';
import { token } from './settings.ts';
import { openSse } from './sse.ts';

const room = process.env['ROOM'] ?? '';
const { cursor } = (await ask<{ room: { cursor: string } }>(roomCursor, { room }, token)).room;
openSse(token).subscribe<RoomEvents>(
  { query: roomEvents, variables: { room, after: cursor } },
  {
    next({ data, errors }) {
      if (!data) throw new Error(errors?.[0]?.message);
      const { __typename: event, post } = data.roomEvents;
      console.log(JSON.stringify({ event, title: post?.title }));
    },
    error(error) {
      throw error;
    },
    complete() {},
  },
);
console.log(JSON.stringify({ ready: true }));
