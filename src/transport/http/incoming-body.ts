import { containOne } from '../../common/contain.ts';
import { ClientError } from '../../errors.ts';
import { maxShortBody } from '../admission/body-budget.ts';
import type { Exchange, Serve } from './exchange.ts';

/** Chunks of a body are joined in groups of this size: each chunk takes about 300 bytes in addition to its content. */
const joinedPieces = 64;
/** A body may arrive in this number of pieces, and in one more for each `bytesPerPiece`. */
const maxPieces = 1_024;
/** Shorter than a packet of any network. */
const bytesPerPiece = 512;
const tooManyPieces = `The body has more than ${maxPieces} chunks that are very short.`;

/** A body while it arrives. Bytes after a limit are never kept, and are read only as far as the answer requires. */
export class IncomingBody {
  readonly #exchange: Exchange;
  readonly #onWhole: Serve;
  #chunks: Buffer[] = [];
  #joined = 0;
  #length = 0;
  #pieces = 0;
  /** The bytes that are counted in the budget of all bodies. */
  #reserved = 0;
  #isRefused = false;

  constructor(exchange: Exchange, onWhole: Serve) {
    this.#exchange = exchange;
    this.#onWhole = onWhole;
    exchange.request.on('data', (chunk) => this.#add(chunk));
    exchange.request.on('end', () => this.#end());
    exchange.request.on('error', () => this.abort());
  }

  /** Returns the whole body, and drops it: the response to a subscription may last for days. Call it once. */
  take(): Buffer {
    const chunks = this.#chunks;
    this.#chunks = [];
    return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
  }

  /** The request has failed, or its response is closed. */
  abort(): void {
    if (!this.#exchange.request.complete) this.#refuse(incomplete());
  }

  #add(chunk: Buffer): void {
    if (this.#isRefused) return;
    this.#exchange.parts.connections.count(this.#exchange.request.socket);
    this.#length += chunk.length;
    this.#pieces += 1;
    const excess = this.#reserve();
    if (excess) return this.#refuse(excess);
    this.#chunks.push(chunk);
    if (this.#chunks.length - this.#joined < joinedPieces) return;
    this.#chunks.push(Buffer.concat(this.#chunks.splice(this.#joined)));
    this.#joined += 1;
  }

  #end(): void {
    this.#release();
    if (!this.#isRefused) containOne(this.#exchange, this.#onWhole, undefined);
  }

  #reserve(): ClientError | undefined {
    const { address, parts } = this.#exchange;
    const { bodyBytes } = parts.config.limits;
    if (this.#pieces > maxPieces + this.#length / bytesPerPiece)
      return new ClientError('PAYLOAD_TOO_LARGE', tooManyPieces);
    if (this.#length > bodyBytes) return tooLarge(bodyBytes);
    const missing = this.#length - maxShortBody - this.#reserved;
    if (missing <= 0) return undefined;
    if (!parts.bodies.fits(address, missing)) return new ClientError('SERVICE_UNAVAILABLE');
    parts.bodies.add(address, missing);
    this.#reserved += missing;
    return undefined;
  }

  #refuse(error: ClientError): void {
    if (this.#isRefused) return;
    this.#isRefused = true;
    this.#chunks = [];
    this.#release();
    this.#exchange.fail(error);
  }

  #release(): void {
    if (this.#reserved > 0) this.#exchange.parts.bodies.add(this.#exchange.address, -this.#reserved);
    this.#reserved = 0;
  }
}

export function incomplete(): ClientError {
  return new ClientError('BAD_REQUEST', 'The body did not arrive whole.');
}

export function tooLarge(maxBytes: number): ClientError {
  return new ClientError('PAYLOAD_TOO_LARGE', `The body is longer than ${maxBytes} bytes.`);
}
