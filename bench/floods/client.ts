import { connect, type Socket } from 'node:net';
import { clientFrame, FrameReader } from '../fan-out/frame-reader.ts';

const text = 1;
const close = 8;
const webSocketHead =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n';

export interface ClientOptions {
  port: number;
  /** Where it comes from. */
  address: string;
  /** Told once that the server speaks with it. */
  onAcknowledged?: () => void;
  /** Told once of how it ended: a status, a close code, or that it was cut off. */
  onEnd?: (how: string) => void;
}

/** A connection that sends any bytes, and does as little as possible with what comes back. */
export class Client {
  readonly ended: Promise<void>;
  readonly #socket: Socket;
  readonly #frames = new FrameReader((opcode, bytes, start, end) => {
    if (opcode !== close) return this.#greet();
    this.#outcome = end - start >= 2 ? `close ${bytes.readUInt16BE(start)}` : 'close';
    this.leave();
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
        onEnd?.(this.#outcome ?? 'cut off');
        resolve();
      });
    });
    this.#socket.on('data', (bytes) => this.#read(bytes));
  }

  send(bytes: Buffer | string): void {
    this.#socket.write(bytes);
  }

  /** A head without its last line. */
  sendHead(line: string, headers = ''): void {
    this.send(`${line} HTTP/1.1\r\nHost: localhost\r\n${headers}`);
  }

  upgrade(): void {
    this.sendHead('GET /graphql', `${webSocketHead}\r\n`);
  }

  /** Frames in one write. */
  say(messages: readonly object[]): void {
    this.send(Buffer.concat(messages.map((message) => clientFrame(text, JSON.stringify(message)))));
  }

  /** Takes nothing more from the network. */
  stopReading(): void {
    this.#socket.pause();
  }

  leave(): void {
    // Of one that is ending already a reset would fail, and node never say that it is closed.
    if (this.#socket.writableEnded) this.#socket.destroy();
    else this.#socket.resetAndDestroy();
  }

  /** The first message is the acknowledgement. */
  #greet(): void {
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
