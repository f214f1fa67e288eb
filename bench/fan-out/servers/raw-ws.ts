import { createServer } from 'node:http';
import { listen } from '../../support/listen.ts';
import { broadcast, openRooms } from './raw-ws-rooms.ts';
import { readPublication } from './room-events.ts';

/* The lower bound of the cost: raw ws, with events that are created in memory. */

const server = createServer((request, response) => {
  for (const room of readPublication(request.url)?.rooms ?? []) broadcast(room);
  response.end('{}');
});
openRooms(server);
listen(server);
