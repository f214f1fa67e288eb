import type { Server } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';

/* A loop over the sockets of a room. Each socket receives the same bytes in its own frame. */

const bytes = Buffer.from(JSON.stringify('x'.repeat(Number(process.env['EVENT_BYTES']) - 2)));
const asText = { binary: false };
const rooms = new Map<string, Set<WebSocket>>();

export function broadcast(room: string): void {
  for (const socket of rooms.get(room) ?? []) socket.send(bytes, asText);
}

/** The URL of a socket names its room. */
export function openRooms(server: Server): void {
  new WebSocketServer({ server, perMessageDeflate: false }).on('connection', (socket, request) => {
    const room = new URL(request.url ?? '', 'http://localhost').searchParams.get('room') ?? '';
    const sockets = rooms.get(room) ?? new Set();
    rooms.set(room, sockets.add(socket));
    socket.once('close', () => sockets.delete(socket));
  });
}
