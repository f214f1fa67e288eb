import type { WebSocket } from 'ws';

/** Private fields of ws 8.23; test/websocket/package.test.ts names them. */
interface Receiving {
  _receiver?: {
    _bufferedBytes: number;
    _messageLength: number;
    _fragments: Buffer[];
    _buffers: Buffer[];
    _write(chunk: Buffer, encoding: string, done: () => void): void;
  };
}

/** The memory of a chunk in addition to its bytes. */
const chunkBytes = 400;
const nothing = Buffer.alloc(0);

/**
 * The memory of the incomplete message that ws keeps, which nothing public reports: 1,000 sockets of one address could
 * hold 256 MB of it.
 */
export function unfinishedBytes({ _receiver: receiver }: WebSocket & Receiving): number {
  if (!receiver) return 0;
  const chunks = receiver._buffers.length + receiver._fragments.length;
  return receiver._bufferedBytes + receiver._messageLength + chunks * chunkBytes;
}

/**
 * Takes the bytes that ws has not parsed: it then stops after the frame that it handles. One packet has up to 10,000
 * frames, which ws would parse in one turn of the event loop.
 */
export function takeUnparsed({ _receiver: receiver }: WebSocket & Receiving): Buffer {
  const [first = nothing, ...others] = receiver?._buffers ?? [];
  if (receiver) Object.assign(receiver, { _buffers: [], _bufferedBytes: 0 });
  // Almost always there is one, and up to 64 KiB need not be copied.
  return others.length === 0 ? first : Buffer.concat([first, ...others]);
}

/** Drops what ws has not parsed, and all that follows: it would parse frames even after the socket is destroyed. */
export function stopParsing(webSocket: WebSocket & Receiving): void {
  takeUnparsed(webSocket);
  if (webSocket._receiver) webSocket._receiver._write = (_chunk, _encoding, done) => done();
}
