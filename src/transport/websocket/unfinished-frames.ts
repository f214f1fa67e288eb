import type { WebSocket } from 'ws';

/* Private fields of ws 8.23: nothing public tells how much of a message has arrived. test/websocket-package.test.ts names them. */

interface Receiving {
  _receiver?: {
    _bufferedBytes: number;
    _messageLength: number;
    _errored: boolean;
    writableFinished: boolean;
    _fragments: Buffer[];
    _buffers: Buffer[];
    _mask?: Buffer;
  };
}

/** The memory of a chunk in addition to its bytes. */
const pieceBytes = 400;

export function unfinishedBytes({ _receiver: receiver }: WebSocket & Receiving): number {
  if (!receiver) return 0;
  const pieces = receiver._buffers.length + receiver._fragments.length;
  return receiver._bufferedBytes + receiver._messageLength + pieces * pieceBytes;
}

/** Drops the fragments of a message that will never be complete: ws would keep up to 256 KiB of it. */
export function forgetFrames({ _receiver: receiver }: WebSocket & Receiving): void {
  if (receiver?._errored || receiver?.writableFinished) {
    Object.assign(receiver, { _fragments: [], _buffers: [], _mask: undefined });
  }
}
