import { io } from 'socket.io-client';
import type { ClientOptions, ReconnectingClient } from '../../reconnects/client.ts';

interface Transport {
  ws: { terminate: () => void };
}

/** A stock client of Socket.IO, which connects again by itself. */
export function createSocketIoClient(options: ClientOptions): ReconnectingClient {
  const { port, localAddress, offlineMs, onOpen, onClosed, onMessage } = options;
  const socket = io(`http://127.0.0.1:${port}`, {
    transports: ['websocket'],
    forceNew: true,
    localAddress,
    // The delays after a restart are those of the published benchmark.
    ...(offlineMs === undefined
      ? { reconnectionDelay: 500, reconnectionDelayMax: 5_000 }
      : { reconnectionDelay: offlineMs, reconnectionDelayMax: offlineMs, randomizationFactor: 0 }),
  });
  socket.io.on('open', onOpen);
  socket.io.on('close', onClosed);
  socket.on('message', onMessage);
  return { cut: () => (socket.io.engine.transport as unknown as Transport).ws.terminate() };
}
