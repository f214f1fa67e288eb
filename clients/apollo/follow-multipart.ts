import { ApolloClient, HttpLink } from '@apollo/client';
import { createCache } from './cache.ts';
import { roomPage } from './documents.ts';
import { followRoom } from './multipart.ts';
import { print } from './print.ts';
import { token, url } from './settings.ts';

const room = process.env['ROOM'] ?? '';
const link = new HttpLink({ uri: url, headers: token ? { authorization: `Bearer ${token}` } : {} });
const client = new ApolloClient({ cache: createCache(), link });
const { data } = await client.query({ query: roomPage, variables: { room } });
if (!data?.room) throw new Error(`There is no room ${room}.`);
followRoom(client, room, data.room.cursor).subscribe(print);
console.log(JSON.stringify({ ready: true }));
