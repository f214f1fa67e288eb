import type { Server } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';

/* Constant bytes, framed by ws for each socket, in a loop. */

const bytes = Buffer.from(JSON.stringify('x'.repeat(Number(process.env['FRAME_BYTES']) - 2)));
const asText = { binary: false };
const rooms = new Map<string, Set<WebSocket>>();

export function broadcast(room: string): void {
  for (const socket of rooms.get(room) ?? []) socket.send(bytes, asText);
}

/** A socket listens to the room of its address. */
export function openRooms(server: Server): void {
  new WebSocketServer({ server, perMessageDeflate: false }).on('connection', (socket, request) => {
    const room = new URL(request.url ?? '', 'http://localhost').searchParams.get('room') ?? '';
    const sockets = rooms.get(room) ?? new Set();
    rooms.set(room, sockets.add(socket));
    socket.once('close', () => sockets.delete(socket));
  });
}
