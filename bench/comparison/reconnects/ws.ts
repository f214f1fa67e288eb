import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { WebSocketServer } from 'ws';
import { listen } from '../../support/listen.ts';

/* ws with a loop over its sockets. */

const server = createServer(async (request, response) => {
  const message = await text(request);
  for (const socket of sockets.clients) socket.send(message);
  response.end('{}');
});
const sockets = new WebSocketServer({ server });
listen(server);
