import { connect, type Socket } from 'node:net';
import { clientFrame, FrameReader } from '../support/frames.ts';

/** Opcodes of frames. */
const text = 1;
const close = 8;
const webSocketHeaders =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n';

export interface ClientOptions {
  port: number;
  /** The client's own address. */
  address: string;
  /** Called when the connection is acknowledged. */
  onAcknowledged?: () => void;
  /** Called when the connection is closed, with a status, a close code, or `connection closed`. */
  onEnd?: (outcome: string) => void;
}

/** A connection that can send any bytes. It parses the answers as little as possible, to need little CPU time. */
export class Client {
  readonly ended: Promise<void>;
  readonly #socket: Socket;
  readonly #frames = new FrameReader((opcode, bytes, start, end) => {
    if (opcode !== close) return this.#acknowledge();
    this.#outcome = end - start >= 2 ? `close ${bytes.readUInt16BE(start)}` : 'close';
    this.disconnect();
  });
  #outcome: string | undefined;
  #isUpgraded = false;
  #onAcknowledged: (() => void) | undefined;

  constructor({ port, address, onAcknowledged, onEnd }: ClientOptions) {
    this.#onAcknowledged = onAcknowledged;
    this.#socket = connect({ host: '127.0.0.1', port, localAddress: address });
    this.#socket.on('error', () => {});
    this.ended = new Promise((resolve) => {
      this.#socket.once('close', () => {
        onEnd?.(this.#outcome ?? 'connection closed');
        resolve();
      });
    });
    this.#socket.on('data', (bytes) => this.#read(bytes));
  }

  send(bytes: Buffer | string): void {
    this.#socket.write(bytes);
  }

  /** Sends the head of a request without its final empty line. */
  sendHead(line: string, headers = ''): void {
    this.send(`${line} HTTP/1.1\r\nHost: localhost\r\n${headers}`);
  }

  upgrade(): void {
    this.sendHead('GET /graphql', `${webSocketHeaders}\r\n`);
  }

  /** Sends all messages in one write. */
  sendMessages(messages: readonly object[]): void {
    this.send(Buffer.concat(messages.map((message) => clientFrame(text, JSON.stringify(message)))));
  }

  stopReading(): void {
    this.#socket.pause();
  }

  disconnect(): void {
    // After a reset of a connection that is already ending, node never emits `close`.
    if (this.#socket.writableEnded) this.#socket.destroy();
    else this.#socket.resetAndDestroy();
  }

  /** The first message of a server acknowledges the connection. */
  #acknowledge(): void {
    this.#onAcknowledged?.();
    this.#onAcknowledged = undefined;
  }

  #read(bytes: Buffer): void {
    if (this.#isUpgraded) return this.#frames.read(bytes);
    const head = bytes.toString('latin1');
    this.#outcome = /^HTTP\/1\.1 \d{3}/.exec(head)?.[0].slice('HTTP/1.1 '.length) ?? this.#outcome;
    if (this.#outcome !== '101') return;
    this.#outcome = undefined;
    this.#isUpgraded = true;
    const end = bytes.indexOf('\r\n\r\n');
    this.#frames.read(bytes.subarray(end + 4));
  }
}
