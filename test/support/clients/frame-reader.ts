import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { firstSeq } from '../rooms/cursors.ts';

const headLength = 256;
const textFrame = 0x81;
const pingFrame = 0x89;
const pongFrame = 0x8a;

/**
 * A live subscription with little parsing: only the beginning of each frame is read. The sequence number of an event
 * comes from its `cursor`, which the subscription must select first.
 */
export class FrameReader {
  readonly socket: Socket;
  /** The number of events received. */
  count = 0;
  /** Whether each event was the successor of the previous one. */
  isInOrder = true;
  last = firstSeq;
  readonly #acknowledged = Promise.withResolvers<void>();
  readonly #live = Promise.withResolvers<void>();
  #pending = Buffer.alloc(0);
  /** The number of bytes left of a frame whose beginning was read. */
  #toSkip = 0;
  #waiting: { count: number; resolve: () => void } | undefined;

  constructor(socket: Socket) {
    this.socket = socket;
  }

  /** Resolves when the subscription is live; the socket is closed after the test. */
  static async open(webSocketUrl: string, query: string): Promise<FrameReader> {
    const { hostname, port, pathname, host } = new URL(webSocketUrl);
    const buffer = Buffer.allocUnsafe(256 * 1024);
    const opened = Promise.withResolvers<void>();
    let reader: FrameReader | undefined;
    const socket = connect({
      host: hostname,
      port: Number(port),
      onread: {
        buffer,
        callback(length, bytes) {
          const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, length);
          if (reader) reader.#read(chunk);
          else if (chunk.includes('\r\n\r\n')) opened.resolve();
          return true;
        },
      },
    });
    socket.on('error', () => {});
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    socket.write(
      `GET ${pathname} HTTP/1.1\r\nhost: ${host}\r\nconnection: upgrade\r\nupgrade: websocket\r\n` +
        `sec-websocket-version: 13\r\nsec-websocket-key: ${randomBytes(16).toString('base64')}\r\n` +
        'sec-websocket-protocol: graphql-transport-ws\r\n\r\n',
    );
    await opened.promise;
    reader = new FrameReader(socket);
    reader.#send(textFrame, '{"type":"connection_init"}');
    await reader.#acknowledged.promise;
    reader.#send(textFrame, JSON.stringify({ type: 'subscribe', id: '1', payload: { query } }));
    await reader.#live.promise;
    return reader;
  }

  /** Stops reading from the socket. */
  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  /** Resolves when `count` events were received. */
  async reached(count: number): Promise<void> {
    if (this.count >= count) return;
    await new Promise<void>((resolve) => {
      this.#waiting = { count, resolve };
    });
  }

  #read(chunk: Buffer): void {
    let offset = Math.min(this.#toSkip, chunk.length);
    this.#toSkip -= offset;
    while (offset < chunk.length) {
      const joined = this.#pending.length > 0;
      const bytes = joined
        ? Buffer.concat([this.#pending, chunk.subarray(offset, offset + headLength)])
        : chunk.subarray(offset);
      const frame = readFrame(bytes);
      if (!frame) {
        this.#pending = Buffer.concat([this.#pending, chunk.subarray(offset)]);
        return;
      }
      const start = offset - this.#pending.length;
      this.#pending = Buffer.alloc(0);
      this.#take(frame.opcode, frame.head);
      const end = start + frame.length;
      this.#toSkip = Math.max(0, end - chunk.length);
      offset = Math.min(end, chunk.length);
    }
  }

  #take(opcode: number, head: string): void {
    if (opcode === pingFrame) return this.#send(pongFrame, '');
    if (head.includes('"type":"connection_ack"')) return this.#acknowledged.resolve();
    if (head.includes('"type":"ping"')) return this.#live.resolve();
    const [, cursor] = /"cursor":"([^"]+)"/.exec(head) ?? [];
    if (cursor === undefined) return;
    const seq = Number(Buffer.from(cursor, 'base64url').toString('latin1').split('.')[1]);
    this.count += 1;
    this.isInOrder &&= seq === this.last + 1;
    this.last = seq;
    if (this.#waiting && this.count >= this.#waiting.count) this.#waiting.resolve();
  }

  #send(opcode: number, text: string): void {
    const payload = Buffer.from(text);
    const mask = randomBytes(4);
    const length =
      payload.length < 126
        ? Buffer.from([payload.length | 0x80])
        : Buffer.from([126 | 0x80, payload.length >> 8, payload.length & 255]);
    this.socket.write(
      Buffer.concat([Buffer.from([opcode]), length, mask, payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0))]),
    );
  }
}

/**
 * The opcode, the total length and the beginning of the payload of a frame; undefined until these bytes have arrived.
 */
function readFrame(bytes: Buffer): { opcode: number; length: number; head: string } | undefined {
  const [opcode = 0, short = 0] = bytes;
  const headerLength = short < 126 ? 2 : short === 126 ? 4 : 10;
  if (bytes.length < headerLength) return undefined;
  const payloadLength = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  const needed = headerLength + Math.min(payloadLength, headLength - 10);
  if (bytes.length < needed) return undefined;
  return { opcode, length: headerLength + payloadLength, head: bytes.toString('latin1', headerLength, needed) };
}
