import { createServer } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import { listen, readPublication } from './peer.ts';

/* The floor: constant bytes, framed by ws for each socket, in a loop. */

const bytes = Buffer.from(JSON.stringify('x'.repeat(Number(process.env['FRAME_BYTES']) - 2)));
const asText = { binary: false };
const rooms = new Map<string, Set<WebSocket>>();

const server = createServer((request, response) => {
  for (const room of readPublication(request.url)?.rooms ?? []) {
    for (const socket of rooms.get(room) ?? []) socket.send(bytes, asText);
  }
  response.end('{}');
});

new WebSocketServer({ server, perMessageDeflate: false }).on('connection', (socket, request) => {
  const room = new URL(request.url ?? '', 'http://localhost').searchParams.get('room') ?? '';
  const sockets = rooms.get(room) ?? new Set();
  rooms.set(room, sockets.add(socket));
  socket.once('close', () => sockets.delete(socket));
});

listen(server);
