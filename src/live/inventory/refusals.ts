import { fields, integer, listOf, orNull, type Parsed, text } from '../../common/parsers.ts';

/** An operation that was answered with an error, as it is in the log of a node. */
const refusal = fields({
  /** In milliseconds since 1970. */
  time: integer,
  /** The name of the node. */
  node: text,
  requestId: text,
  operation: orNull(text),
  code: text,
  reason: text,
  viewerId: orNull(text),
  address: text,
});
export type Refusal = Parsed<typeof refusal>;
export const parseRefusals = listOf(refusal);
/** Null asks for the latest of all requests. */
export const parseRefusalQuestion = fields({ requestId: orNull(text) });

const maxKept = 500;
const maxFound = 50;

/** The latest refusals of this node, the latest first. */
export class LatestRefusals {
  readonly #all: Omit<Refusal, 'node'>[] = [];

  add(refusal: Omit<Refusal, 'node'>): void {
    const { operation, reason } = refusal;
    const printable = { operation: operation && toPrintable(operation), reason: toPrintable(reason) };
    // A copy: a text may be a part of a long one, which it would keep in memory.
    this.#all.unshift(structuredClone({ ...refusal, ...printable }));
    this.#all.length = Math.min(this.#all.length, maxKept);
  }

  find(requestId: string | null, node: string): Refusal[] {
    const found = this.#all.filter((each) => requestId === null || each.requestId === requestId);
    return found.slice(0, maxFound).map((refusal) => ({ ...refusal, node }));
  }
}

/** At most three bytes of JSON for each character, so that the parts of a message between nodes have room for all. */
function toPrintable(text: string): string {
  return text.toWellFormed().replace(/\p{Cc}/gu, '\uFFFD');
}

/** The latest of the refusals of several nodes. */
export function joinRefusals(refusals: readonly Refusal[]): Refusal[] {
  return refusals.toSorted((one, other) => other.time - one.time).slice(0, maxFound);
}
