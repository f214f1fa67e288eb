import type { Key } from '../../data/lists/key-ranges.ts';
import { streamTransports } from '../live-counts.ts';
import { asRecord, fields, integer, listOf, number, oneOf, orNull, type Parser, parseJson, text } from '../parsers.ts';
import type { Client, ClientFilter } from './client.ts';
import type { ClientQuestion, ClientRange, ClientsAnswer } from './clients.ts';
import type { ErrorCount, NodeReport, NodeStatus, QueueDepth, RoomFollowers } from './node-report.ts';

/*
 * What nodes ask each other, and how they answer. A node of another version, which does not have an expected field, is
 * left out of the result.
 */

export type Question =
  /** Finds the other nodes. */
  | { kind: 'discover' }
  | { kind: 'status' }
  | { kind: 'clients'; question: ClientQuestion }
  | { kind: 'end'; id: string }
  /** The answer follows the reports of the presence in these rooms. */
  | { kind: 'presence'; rooms: readonly string[] };

/** The bytes of JSON in one message: as Base64, they fit into a notification of PostgreSQL. */
const bytesPerPart = 5_400;
/** An answer has at most 101 clients, of less than 500 bytes each. */
export const maxParts = 16;

/** The parts of an answer, as they are sent; undefined if it is too long. */
export function encodeAnswer(answer: unknown): string[] | undefined {
  const json = Buffer.from(JSON.stringify(answer));
  const count = Math.ceil(json.length / bytesPerPart);
  if (count > maxParts) return undefined;
  return Array.from({ length: count }, (_, part) =>
    json.toString('base64', part * bytesPerPart, (part + 1) * bytesPerPart),
  );
}

export function decodeAnswer(parts: readonly string[]): unknown {
  return parseJson(Buffer.concat(parts.map((part) => Buffer.from(part, 'base64'))).toString());
}

const client = fields<Client>({
  id: text,
  viewerId: orNull(text),
  address: text,
  transport: oneOf(...streamTransports),
  since: integer,
  node: text,
  subscriptions: integer,
  bytesWaiting: integer,
  lagMs: number,
});

export const parseEnded = fields<{ ended: Client | null }>({ ended: orNull(client) });

export const parseClients = fields<ClientsAnswer>({ clients: listOf(client), total: integer });

export const parseReport = fields<NodeReport>({
  status: fields<NodeStatus>({
    name: text,
    version: text,
    nodeVersion: text,
    startedAt: integer,
    connections: integer,
    subscriptions: integer,
    roomsFollowed: integer,
    operationsPerSecond: number,
    deliveriesPerSecond: number,
    failedOperationsPerSecond: number,
    lagMs: number,
    slowConsumers: integer,
    queues: listOf(fields<QueueDepth>({ name: text, depth: integer })),
    memoryBytes: number,
    eventLoopLagMs: number,
  }),
  errors: listOf(fields<ErrorCount>({ code: text, count: integer, lastAt: orNull(integer) })),
  rooms: listOf(fields<RoomFollowers>({ roomId: text, followers: integer })),
});

const key: Parser<Key> = (value) => {
  const [time, id] = Array.isArray(value) ? [integer(value[0]), text(value[1])] : [];
  return time === undefined || id === undefined ? undefined : [time, id];
};

/** JSON leaves out what is undefined. */
function optional<T>(parse: Parser<T>): Parser<T> {
  return (value) => (value == null ? undefined : parse(value));
}

function parseClientQuestion(value: unknown): ClientQuestion {
  const question = asRecord(value);
  const [filter, range] = [asRecord(question?.['filter']), asRecord(question?.['range'])];
  const readFilter: ClientFilter = {
    viewerId: optional(text)(filter?.['viewerId']),
    transport: optional(oneOf(...streamTransports))(filter?.['transport']),
    address: optional(text)(filter?.['address']),
  };
  const readRange: ClientRange = {
    after: optional(key)(range?.['after']),
    before: optional(key)(range?.['before']),
    limit: integer(range?.['limit']) ?? 0,
  };
  return { filter: readFilter, range: readRange };
}

/** Undefined for a question that this program does not know. */
export function parseQuestion(json: string): Question | undefined {
  const value = asRecord(parseJson(json));
  switch (value?.['kind']) {
    case 'discover':
      return { kind: 'discover' };
    case 'status':
      return { kind: 'status' };
    case 'clients':
      return { kind: 'clients', question: parseClientQuestion(value['question']) };
    case 'end':
      return { kind: 'end', id: String(value['id']) };
    case 'presence':
      return { kind: 'presence', rooms: listOf(text)(value['rooms']) ?? [] };
    default:
      return undefined;
  }
}
