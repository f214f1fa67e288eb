import { client } from './client.ts';
import { roomEvents, roomPage } from './documents.ts';

const room = process.env['ROOM'] ?? '';
const { data, error } = await client.query(roomPage, { room });
if (!data?.room) throw error ?? new Error(`There is no room ${room}.`);
client.subscription(roomEvents, { room, after: data.room.cursor }).subscribe(({ data, error }) => {
  if (!data) throw error;
  const { __typename: event, post } = data.roomEvents;
  console.log(JSON.stringify({ event, title: post?.title }));
});
console.log(JSON.stringify({ ready: true }));
