import type { KeyRange } from '../../data/lists/key-ranges.ts';
import { type Client, type ClientFilter, isBefore, keyOf, meets } from './client.ts';

/** The range is read from its start. */
export type ClientRange = Pick<KeyRange, 'after' | 'before' | 'limit'>;

export interface ClientQuestion {
  filter: ClientFilter;
  range: ClientRange;
}

export interface ClientsAnswer {
  /** The clients of the range, in ascending order. */
  clients: Client[];
  /** The number of all clients that meet the filter. */
  total: number;
}

type Candidate = Pick<Client, 'id' | 'since' | 'viewerId' | 'transport' | 'address'>;

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
  clients.sort((one, other) => (isBefore(keyOf(one), keyOf(other)) ? -1 : 1));
  return { clients: clients.slice(0, range.limit), total: answers.reduce((sum, { total }) => sum + total, 0) };
}

function isWithin(client: Candidate, { after, before }: ClientRange): boolean {
  if (after && !isBefore(after, keyOf(client))) return false;
  return !before || isBefore(keyOf(client), before);
}
