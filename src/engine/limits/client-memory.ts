import { getHeapStatistics } from 'node:v8';
import type { DocumentNode, Token } from 'graphql';
import type { Limits } from '../../config/config.ts';
import { ClientError } from '../../errors.ts';

/*
 * Memory that the server holds for clients between their messages, estimated in bytes.
 * test/soak/live/retained-memory.test.ts measures it.
 */

/** An open WebSocket. */
export const socketBytes = 9_300;
/** A connection whose answer is an event stream. */
export const eventStreamBytes = 10_000;
/** A live subscription, without its variables and its document. */
const subscriptionBytes = 4_900;
/** Bytes that a coerced variable and its JSON take for each byte of the JSON. */
const bytesPerVariableByte = 4;
/** For a document's syntax tree and plans. They are held while a subscription runs the document. */
const bytesPerToken = 400;
const maxBytesOfSocket = 2 ** 20;
const maxBytesOfAddress = 58 * 2 ** 20;
const minBytesPerSocket = 58 * 2 ** 10;

const nearLimitShare = 0.6;

/**
 * The bytes held for one socket, one address or the whole process. Bytes of a socket also count for its address, and
 * those of an address for the process.
 */
class MemoryAccount {
  used = 0;
  readonly #owner: string;
  readonly #limit: number;
  readonly #parent: MemoryAccount | undefined;

  constructor(owner: string, limit: number, parent?: MemoryAccount) {
    this.#owner = owner;
    this.#limit = limit;
    this.#parent = parent;
  }

  /** Whether more bytes are held than the limit allows. This can happen because `add` does not check the limit. */
  get isOver(): boolean {
    return this.used > this.#limit || (this.#parent?.isOver ?? false);
  }

  /**
   * Whether data that waits for slow readers must not grow. The remaining share is reserved for new requests of
   * clients.
   */
  get isNearLimit(): boolean {
    return this.used > this.#limit * nearLimitShare || (this.#parent?.isNearLimit ?? false);
  }

  /** @throws ClientError SUBSCRIPTION_LIMIT_EXCEEDED that names the limit. */
  addOrThrow(bytes: number): void {
    const full = this.#findFull(bytes);
    if (!full) return this.add(bytes);
    const message = `The server holds at most ${full.#limit} bytes for one ${full.#owner}: it holds ${full.used}, and this needs ${bytes} more.`;
    throw new ClientError('SUBSCRIPTION_LIMIT_EXCEEDED', message);
  }

  fits(bytes: number): boolean {
    return this.#findFull(bytes) === undefined;
  }

  /** Adds bytes without checking the limit; a negative number releases bytes. */
  add(bytes: number): void {
    this.used += bytes;
    this.#parent?.add(bytes);
  }

  #findFull(bytes: number): MemoryAccount | undefined {
    if (this.used + bytes > this.#limit) return this;
    return this.#parent ? this.#parent.#findFull(bytes) : undefined;
  }
}

/** Counts a document once, however many subscriptions of the address run it. */
class AddressAccount extends MemoryAccount {
  clients = 0;
  readonly #documents = new Map<DocumentNode, number>();

  holdDocument(document: DocumentNode): void {
    const holders = this.#documents.get(document) ?? 0;
    if (holders === 0) this.addOrThrow(bytesOfDocument(document));
    this.#documents.set(document, holders + 1);
  }

  releaseDocument(document: DocumentNode): void {
    const holders = this.#documents.get(document) ?? 0;
    if (holders > 1) return void this.#documents.set(document, holders - 1);
    this.#documents.delete(document);
    this.add(-bytesOfDocument(document));
  }
}

/** The bytes held for one WebSocket or one stream over HTTP. */
export class ClientAccount extends MemoryAccount {
  /** The number of rooms of all inboxes. */
  inboxRooms = 0;
  readonly #address: AddressAccount;
  readonly #onClose: () => void;
  #isClosed = false;

  constructor(address: AddressAccount, onClose: () => void) {
    super('socket', maxBytesOfSocket, address);
    this.#address = address;
    this.#onClose = onClose;
  }

  /** Whether more bytes are held for its address, or by the process, than the limits allow. */
  get isAddressOver(): boolean {
    return this.#address.isOver;
  }

  override add(bytes: number): void {
    if (!this.#isClosed) super.add(bytes);
  }

  /**
   * Counts the bytes of a subscription, and returns the function that releases them. @throws ClientError
   * SUBSCRIPTION_LIMIT_EXCEEDED.
   */
  holdSubscription(document: DocumentNode, variables: Readonly<Record<string, unknown>>): () => void {
    const bytes = subscriptionBytes + bytesPerVariableByte * JSON.stringify(variables).length;
    this.addOrThrow(bytes);
    try {
      this.#address.holdDocument(document);
    } catch (error) {
      this.add(-bytes);
      throw error;
    }
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.add(-bytes);
      this.#address.releaseDocument(document);
    };
  }

  /** Releases all bytes of the socket, after it was closed. */
  close(): void {
    if (this.#isClosed) return;
    this.add(-this.used);
    this.#isClosed = true;
    this.#onClose();
  }
}

/** The bytes that the process holds for its clients, by address. */
export class ClientMemory {
  readonly #process: MemoryAccount;
  readonly #maxOfAddress: number;
  readonly #addresses = new Map<string, AddressAccount>();

  constructor({ sockets }: Pick<Limits, 'sockets'>) {
    this.#process = new MemoryAccount('process', getHeapStatistics().heap_size_limit / 2);
    this.#maxOfAddress = Math.max(maxBytesOfAddress, sockets * minBytesPerSocket);
  }

  /** Whether the memory budget of the address allows one more WebSocket. */
  acceptsSocket(address: string): boolean {
    return (this.#addresses.get(address) ?? this.#process).fits(socketBytes);
  }

  /** Opens the account of one client of the address. The caller closes it. */
  open(address: string): ClientAccount {
    const account = this.#addresses.get(address) ?? new AddressAccount('address', this.#maxOfAddress, this.#process);
    this.#addresses.set(address, account);
    account.clients += 1;
    return new ClientAccount(account, () => {
      account.clients -= 1;
      if (account.clients === 0) this.#addresses.delete(address);
    });
  }
}

export function countTokens(document: DocumentNode): number {
  let tokens = 0;
  for (let token: Token | null | undefined = document.loc?.startToken; token; token = token.next) tokens += 1;
  return tokens;
}

function bytesOfDocument(document: DocumentNode): number {
  return countTokens(document) * bytesPerToken + 2 * (document.loc?.source.body.length ?? 0);
}
