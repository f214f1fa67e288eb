import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { Server } from 'socket.io';
import { listen } from '../../support/listen.ts';

/* Socket.IO with one room. With RECOVERY=1 it restores the state of a connection that was lost, as in its documentation. */

const server = createServer();
const recovery = { connectionStateRecovery: { maxDisconnectionDuration: 2 * 60 * 1000, skipMiddlewares: true } };
const io = new Server(server, { transports: ['websocket'], ...(process.env['RECOVERY'] === '1' && recovery) });
io.on('connection', (socket) => {
  if (!socket.recovered) void socket.join('room');
});
server.on('request', async (request, response) => {
  if (request.url !== '/publish') return;
  io.to('room').emit('message', await text(request));
  response.end('{}');
});
listen(server);
