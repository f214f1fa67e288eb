import {
  fields,
  integer,
  listOf,
  number,
  oneOf,
  orAbsent,
  orNull,
  type Parsed,
  type Parser,
  text,
} from '../../common/parsers.ts';
import {
  type Connection,
  type ConnectionArguments,
  createConnection,
  type Edge,
  encodeKey,
  type Key,
  type KeyRange,
} from '../../data/lists/pages.ts';
import { streamTransports } from '../live-counts.ts';

/** A client with an open WebSocket or event stream. */
const client = fields({
  id: text,
  viewerId: orNull(text),
  address: text,
  transport: oneOf(...streamTransports),
  /** In milliseconds since 1970. */
  since: integer,
  /** The name of its node. */
  node: text,
  subscriptions: integer,
  bytesWaiting: integer,
  lagMs: number,
});
export type Client = Parsed<typeof client>;

const key: Parser<Key> = (value) => {
  const [time, id] = Array.isArray(value) ? [integer(value[0]), text(value[1])] : [];
  return time === undefined || id === undefined ? undefined : [time, id];
};

type Optional<Fields> = { [Name in keyof Fields]?: Fields[Name] | undefined };

/** Conditions that clients must meet; one that is absent or null does not apply. */
const filter = fields({
  viewerId: orAbsent(text),
  transport: orAbsent(oneOf(...streamTransports)),
  address: orAbsent(text),
});
export type ClientFilter = Optional<Parsed<typeof filter>>;

/** The range is read from its start. */
const range = fields({ after: orAbsent(key), before: orAbsent(key), limit: integer });

export const parseClientQuestion = fields({ filter, range });
export interface ClientQuestion {
  filter: ClientFilter;
  range: Optional<Parsed<typeof range>> & Pick<KeyRange, 'limit'>;
}

/** The clients of the range, in ascending order, and the number of all clients that meet the filter. */
export const parseClients = fields({ clients: listOf(client), total: integer });
export type ClientsAnswer = Parsed<typeof parseClients>;

export const parseEnded = fields({ ended: orNull(client) });

type Candidate = Pick<Client, 'id' | 'viewerId' | 'transport' | 'address'>;

/** Finds the clients of a question; `all` are in ascending order. Only those of the answer are described. */
export function selectClients<Open extends Candidate>(
  all: Iterable<Open>,
  { filter, range }: ClientQuestion,
  describe: (open: Open) => Client,
): ClientsAnswer {
  const clients: Client[] = [];
  let total = 0;
  for (const open of all) {
    if (!meets(open, filter)) continue;
    total += 1;
    if (clients.length < range.limit && isWithin(open, range)) clients.push(describe(open));
  }
  return { clients, total };
}

/** Joins the answers of several nodes to the same question. */
export function mergeAnswers(answers: readonly ClientsAnswer[], { range }: ClientQuestion): ClientsAnswer {
  const clients = answers.flatMap((answer) => answer.clients);
  clients.sort((one, other) => (one.id < other.id ? -1 : 1));
  return { clients: clients.slice(0, range.limit), total: answers.reduce((sum, { total }) => sum + total, 0) };
}

export type ClientEdge = Edge<Client>;

export interface ClientConnection extends Connection<ClientEdge> {
  total: () => Promise<number>;
}

/** A page of the clients of all nodes. @throws ClientError VALIDATION_ERROR if an argument is invalid. */
export function findClientPage(
  inventory: { findClients: (question: ClientQuestion) => Promise<ClientsAnswer> },
  filter: ClientFilter,
  args: Pick<ConnectionArguments, 'first' | 'after'>,
): ClientConnection {
  const read = async (range: KeyRange) => {
    const { clients } = await inventory.findClients({ filter, range });
    return clients.map((node) => ({ cursor: encodeKey([node.since, node.id]), node }));
  };
  return {
    ...createConnection(read, args),
    total: async () => (await inventory.findClients({ filter, range: { limit: 1 } })).total,
  };
}

function meets(client: Candidate, { viewerId, transport, address }: ClientFilter): boolean {
  if (viewerId != null && client.viewerId !== viewerId) return false;
  if (transport != null && client.transport !== transport) return false;
  return address == null || client.address === address;
}

/** Ids ascend by the time of the start. */
function isWithin({ id }: Candidate, { after, before }: ClientQuestion['range']): boolean {
  return !(after && id <= after[1]) && !(before && id >= before[1]);
}
