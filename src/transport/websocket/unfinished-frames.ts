import type { WebSocket } from 'ws';

/** Private fields of ws 8.23; test/websocket/package.test.ts names them. */
interface Receiving {
  _receiver?: {
    _bufferedBytes: number;
    _messageLength: number;
    _fragments: Buffer[];
    _buffers: Buffer[];
  };
}

/** The memory of a chunk in addition to its bytes. */
const chunkBytes = 400;

/**
 * The memory of the incomplete message that ws keeps, which nothing public reports: 1,000 sockets of one address could
 * hold 256 MB of it.
 */
export function unfinishedBytes({ _receiver: receiver }: WebSocket & Receiving): number {
  if (!receiver) return 0;
  const chunks = receiver._buffers.length + receiver._fragments.length;
  return receiver._bufferedBytes + receiver._messageLength + chunks * chunkBytes;
}
