import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

const headLength = 256;
const textFrame = 0x81;
const pingFrame = 0x89;
const pongFrame = 0x8a;

/**
 * A live subscription read as cheaply as it goes: of each frame only the head is looked at. It tells the number of each
 * event from its `cursor`, which the subscription selects first.
 */
export class FrameReader {
  readonly socket: Socket;
  /** How many events came. */
  count = 0;
  /** Whether each was the one behind the one before. */
  isInOrder = true;
  last = 0;
  readonly #acknowledged = Promise.withResolvers<void>();
  readonly #live = Promise.withResolvers<void>();
  #pending = Buffer.alloc(0);
  /** What is left of a frame whose head was looked at. */
  #toSkip = 0;
  #waiting: { count: number; resolve: () => void } | undefined;

  constructor(socket: Socket) {
    this.socket = socket;
  }

  /** Connected, subscribed and live; gone when the test is. */
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

  /** Leaves what comes unread. */
  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  /** So many events have come. */
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

/** A frame's kind, its whole length and the beginning of its payload; undefined as long as that is not there. */
function readFrame(bytes: Buffer): { opcode: number; length: number; head: string } | undefined {
  const [opcode = 0, short = 0] = bytes;
  const headerLength = short < 126 ? 2 : short === 126 ? 4 : 10;
  if (bytes.length < headerLength) return undefined;
  const payloadLength = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  const needed = headerLength + Math.min(payloadLength, headLength - 10);
  if (bytes.length < needed) return undefined;
  return { opcode, length: headerLength + payloadLength, head: bytes.toString('latin1', headerLength, needed) };
}
