import { client } from './client.ts';
import { roomEvents, roomPage } from './documents.ts';
import { print } from './print.ts';

const room = process.env['ROOM'] ?? '';
const { data } = await client.query({ query: roomPage, variables: { room } });
if (!data?.room) throw new Error(`There is no room ${room}.`);
client.subscribe({ query: roomEvents, variables: { room, after: data.room.cursor } }).subscribe(print);
console.log(JSON.stringify({ ready: true }));
