import { createServer } from 'node:http';
import { listen, readPublication } from './peer.ts';
import { broadcast, openRooms } from './raw-ws-rooms.ts';

/* The floor. */

const server = createServer((request, response) => {
  for (const room of readPublication(request.url)?.rooms ?? []) broadcast(room);
  response.end('{}');
});
openRooms(server);
listen(server);
