import type { RawData } from 'ws';
import { containOne } from '../../common/contain.ts';
import { PerTurnQueue, TurnBudget } from '../../common/event-loop.ts';
import type { HandshakeQueue } from '../admission/handshake-queue.ts';
import { tryAgainLater, type WebSocketConnection } from './connection.ts';
import { stopParsing } from './receiver.ts';

/** A refused operation takes 0.1 to 0.2 ms. */
const framesPerTurn = 16;
/** To parse as many characters takes as long, and counts as much, as a message. */
const lengthPerMessage = 16_384;
/** The error code of ws for a frame or a message in too many pieces. */
const tooManyPieces = 'WS_ERR_TOO_MANY_BUFFERED_PARTS';

/**
 * Limits the frames of all sockets: those in one turn of the event loop, and those of each socket. The result watches a
 * socket, and closes it when it sends too many, with a code that tells its client to try again later.
 */
export function createFrameLimits(handshakes: HandshakeQueue, messagesPerSecond: number) {
  const ofTurn = new TurnBudget(framesPerTurn);
  /** Their frames wait for another turn, in order. */
  const waiting = new PerTurnQueue<WebSocketConnection>(framesPerTurn, (connection) =>
    containOne(connection, () => connection.resumeReading(), undefined),
  );
  return (connection: WebSocketConnection): void => {
    const { webSocket, address } = connection;
    const takeMessages = createTokenBucket(messagesPerSecond);
    const count = (frames: number) => {
      // The client has closed its side.
      if (!connection.isOpen) return stopParsing(webSocket);
      if (ofTurn.spend(frames) <= 0 && connection.deferFrames()) waiting.defer(connection);
      if (frames === 0 || takeMessages(frames)) return;
      handshakes.pause(address);
      connection.end(tryAgainLater, 'Too many messages');
    };
    webSocket.on('message', (data: RawData) =>
      count(Math.max(1, Math.ceil((data as Buffer).length / lengthPerMessage))),
    );
    webSocket.on('ping', () => count(1));
    webSocket.on('pong', () => count(connection.writer.takePong() ? 0 : 1));
    // Runs before the other listeners, which admit the next socket.
    webSocket.prependListener('error', (fault: Error & { code?: string }) => {
      if (fault.code === tooManyPieces) handshakes.pause(address);
    });
  };
}

/**
 * `perSecond` messages each second, and twice as many in a burst, because a client that reconnects subscribes to everything
 * at once. The result takes a number of them, more than one for a long message; false if none is left.
 */
function createTokenBucket(perSecond: number): (count: number) => boolean {
  const burst = perSecond * 2;
  let tokens = burst;
  let refilledAt = performance.now();
  return (count) => {
    const now = performance.now();
    tokens = Math.min(burst, tokens + ((now - refilledAt) / 1_000) * perSecond);
    refilledAt = now;
    if (tokens < 1) return false;
    tokens -= count;
    return true;
  };
}
