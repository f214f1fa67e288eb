import { CloseCode, type Message, MessageType, type SubscribeMessage, validateMessage } from 'graphql-ws';
import { contain } from '../../common/contain.ts';
import { ClientError } from '../../errors.ts';
import type { Viewer } from '../../identity/viewer.ts';
import { maxInboxRooms } from '../../live/inbox/inbox-request.ts';
import { flushAnswers } from '../batched-writes.ts';
import { parseClientJson } from '../client-json.ts';
import type { TransportParts } from '../transport.ts';
import { type SeenCursors, tryAgainLater, type WebSocketConnection } from './connection.ts';
import { SocketOperation } from './operation.ts';

/* graphql-transport-ws: https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md */

type Payload = Record<string, unknown> | null | undefined;

const invalid = 'Invalid message received';
const serverMessages = [MessageType.ConnectionAck, MessageType.Next, MessageType.Error];

/** A client that sends no `connection_init` in this time is disconnected. */
const initTimeoutMs = 3_000;
/** In characters: the id and the cursor of a room. */
const lengthPerRoom = 130;
const lengthOfInbox = lengthPerRoom * maxInboxRooms;
/** In characters. The first message is `connection_init`: it has credentials, and the cursors of each subscription. */
const minInitLength = 65_536;
const lengthPerSeen = 500;
/**
 * In characters. Messages other than `subscribe` and `connection_init` are short; the payload of a `ping` is sent back.
 */
const maxPingLength = 16_384;
/** Clients send the payload of a `ping` back, also the cursors of an inbox. */
const maxPongLength = maxPingLength + lengthPerRoom * maxInboxRooms;
/** In characters: the maximum length of a client's string that the server keeps, such as the id of an operation. */
const maxKeptLength = 200;
/** The number of operations whose cursors clients may send in any case, beside those of an inbox. */
const minOperations = 100;

/** Reads the messages of one client: checks its credentials, answers its pings, and starts and ends its operations. */
export class SocketProtocol {
  readonly #parts: TransportParts;
  readonly #connection: WebSocketConnection;
  /** The `Authorization` header of the handshake; undefined after it has been read. */
  #authorization: string | undefined;
  readonly #initTimeout: NodeJS.Timeout;
  #isFirst = true;
  #isInitialised = false;
  #isAcknowledged = false;

  constructor(parts: TransportParts, connection: WebSocketConnection, authorization: string | undefined) {
    this.#parts = parts;
    this.#connection = connection;
    this.#authorization = authorization;
    const endLate = () =>
      connection.end(CloseCode.ConnectionInitialisationTimeout, 'Connection initialisation timeout');
    this.#initTimeout = setTimeout(contain(endLate, connection.fail), initTimeoutMs);
  }

  read(text: string): void {
    const connection = this.#connection;
    if (!connection.isOpen || connection.isEnding) return;
    const { limits } = this.#parts.config;
    const maxInitLength = Math.max(minInitLength, lengthPerSeen * limits.subscriptions) + lengthOfInbox;
    const isTooLong = this.#isFirst && text.length > maxInitLength;
    this.#isFirst = false;
    if (isTooLong) {
      const fault = `The first message must have at most ${maxInitLength} characters`;
      return connection.end(CloseCode.BadRequest, fault);
    }
    // An operation may take long, and one turn may handle those of many sockets.
    flushAnswers();
    const message = parse(text);
    if (typeof message === 'string') connection.end(CloseCode.BadRequest, message);
    else this.#handle(message, text.length);
  }

  stop(): void {
    clearTimeout(this.#initTimeout);
  }

  #handle(message: Message, length: number): void {
    const connection = this.#connection;
    if (message.type === MessageType.Subscribe) this.#subscribe(message, length);
    else if (message.type === MessageType.Complete) connection.operations.get(message.id)?.leave();
    else if (message.type === MessageType.Ping) this.#answerPing(message.payload).catch(connection.fail);
    else if (message.type === MessageType.ConnectionInit) this.#initialise(message.payload).catch(connection.fail);
  }

  #subscribe(message: SubscribeMessage, length: number): void {
    const { id } = message;
    const connection = this.#connection;
    if (!this.#isAcknowledged) return connection.end(CloseCode.Unauthorized, 'Unauthorized');
    if (!connection.operations.has(id)) return void new SocketOperation(this.#parts, connection, message, length);
    connection.end(CloseCode.SubscriberAlreadyExists, `Subscriber for ${id} already exists`);
  }

  /** Finds the viewer, and the cursors after which subscriptions resume. */
  async #initialise(payload: Payload): Promise<void> {
    const { config, watchCredentials } = this.#parts;
    const connection = this.#connection;
    if (this.#isInitialised) {
      return connection.end(CloseCode.TooManyInitialisationRequests, 'Too many initialisation requests');
    }
    this.#isInitialised = true;
    this.stop();
    const authorization = payload?.['authorization'] ?? this.#authorization;
    this.#authorization = undefined;
    const seen = readSeen(payload?.['live'], config.limits.subscriptions);
    if (typeof seen === 'string') return connection.end(CloseCode.BadRequest, seen);
    const viewer = await this.#authenticate(authorization);
    if (viewer === undefined) return connection.end(CloseCode.Forbidden, 'Forbidden');
    connection.setSeen(seen);
    await connection.setViewer(viewer, watchCredentials);
    this.#isAcknowledged = true;
    void connection.send(JSON.stringify({ type: MessageType.ConnectionAck }));
  }

  /** Its payload may have new credentials. */
  async #answerPing(payload: Payload): Promise<void> {
    if (this.#isAcknowledged && payload && 'authorization' in payload) await this.#renew(payload['authorization']);
    void this.#connection.send(JSON.stringify({ type: MessageType.Pong, ...(payload && { payload }) }));
  }

  /** Renews the credentials of an open socket, or sets its first. Invalid credentials, or those of another user: 4403. */
  async #renew(authorization: unknown): Promise<void> {
    const connection = this.#connection;
    const viewer = await this.#authenticate(authorization);
    const { viewer: current } = connection;
    const isSame = viewer != null && (current === null || viewer.user.id === current.user.id);
    if (isSame) await connection.setViewer(viewer, this.#parts.watchCredentials);
    else connection.end(CloseCode.Forbidden, 'Forbidden');
  }

  /** Undefined if the credentials are invalid. If they cannot be checked, the socket is also closed with 1013. */
  async #authenticate(authorization: unknown): Promise<Viewer | null | undefined> {
    const { authenticate, log } = this.#parts;
    if (authorization !== undefined && typeof authorization !== 'string') return undefined;
    try {
      return await authenticate(authorization, this.#connection.address);
    } catch (error) {
      const code = error instanceof ClientError ? error.code : undefined;
      if (code === 'UNAUTHENTICATED') return undefined;
      if (code !== 'RATE_LIMITED') log.error({ err: error }, 'credentials could not be checked');
      this.#connection.end(tryAgainLater, 'Try again later');
      return undefined;
    }
  }
}

/** Returns the message, or a text that describes what is wrong. */
function parse(text: string): Message | string {
  try {
    const message = validateMessage(parseClientJson(text));
    if (serverMessages.includes(message.type)) return invalid;
    const idFault = 'id' in message ? findIdFault(message.id) : undefined;
    return findLengthFault(message, text.length) ?? idFault ?? message;
  } catch (error) {
    return error instanceof ClientError ? error.message : invalid;
  }
}

/** Describes what is wrong with the length of a message; undefined if the length is allowed. */
function findLengthFault({ type }: Message, length: number): string | undefined {
  const maxLength = { [MessageType.Ping as string]: maxPingLength, [MessageType.Pong]: maxPongLength }[type];
  if (maxLength === undefined || length <= maxLength) return undefined;
  return `A ${type} must have at most ${maxLength} characters`;
}

/**
 * The entries of `connectionParams.live.seen`; nothing else in `live` is read. An entry is a cursor, or the cursors of an
 * inbox: a list, or a map by room and user; null stands for no cursor. A text describes an invalid entry, as the reason of a close
 * frame: to ignore the entry would lose events silently.
 */
function readSeen(live: unknown, maxEntries: number): SeenCursors | string {
  const given = typeof live === 'object' && live !== null && 'seen' in live ? live.seen : undefined;
  if (typeof given !== 'object' || given === null) return new Map();
  const seen: SeenCursors = new Map();
  for (const [id, value] of Object.entries(given)) {
    if (value === null) continue;
    const cursors: unknown[] =
      typeof value === 'object' ? Object.values(value).filter((cursor) => cursor !== null) : [value];
    if (!cursors.every((cursor) => typeof cursor === 'string')) return 'live.seen has a cursor that is not a string';
    seen.set(id, cursors);
  }
  return findFault(seen, maxEntries) ?? seen;
}

function findFault(seen: SeenCursors, maxEntries: number): string | undefined {
  if (seen.size > maxEntries) return `live.seen has ${seen.size} entries: at most ${maxEntries} are allowed`;
  const count = seen.values().reduce((sum, { length }) => sum + length, 0);
  const maxCursors = maxInboxRooms + Math.max(minOperations, maxEntries);
  if (count > maxCursors) return `live.seen has ${count} cursors: at most ${maxCursors} are allowed`;
  for (const [id, cursors] of seen) {
    if (id.length > maxKeptLength) return tooLong('live.seen has an id', id);
    const long = cursors.find(({ length }) => length > maxKeptLength);
    if (long !== undefined) return tooLong('live.seen has a cursor', long);
  }
  return undefined;
}

/** Describes what is wrong with the `id` of a message; undefined if it is valid. */
function findIdFault(id: unknown): string | undefined {
  if (typeof id !== 'string' || id === '') return 'The id of a message must be a string that is not empty';
  return id.length > maxKeptLength ? tooLong('The operation has an id', id) : undefined;
}

function tooLong(subject: string, { length }: string): string {
  return `${subject} of ${length} characters: at most ${maxKeptLength} are allowed`;
}
