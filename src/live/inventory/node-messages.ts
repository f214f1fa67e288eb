import { fields, listOf, type Parsed, parseJson, text, variants } from '../../common/parsers.ts';
import { type ClientQuestion, parseClientQuestion } from './clients.ts';
import { parseLoadQuestion } from './load.ts';
import { parseRefusalQuestion } from './refusals.ts';

/*
 * What nodes ask each other, and how they answer. A node of another version, which does not have an expected field, is
 * left out of the result.
 */

const questions = {
  /** Finds the other nodes. */
  discover: fields({}),
  status: fields({}),
  clients: fields<{ question: ClientQuestion }>({ question: parseClientQuestion }),
  load: parseLoadQuestion,
  refusals: parseRefusalQuestion,
  /** Ends the connection with this id. */
  end: fields({ id: text }),
  /** The answer follows the reports of the presence in these rooms. */
  presence: fields({ rooms: listOf(text) }),
};

/** Undefined for a question that this program does not know. */
export const parseQuestion = variants('kind', questions);
export type Question = Parsed<typeof parseQuestion>;

/** The bytes of JSON in one message: as Base64, they fit into a notification of PostgreSQL. */
const bytesPerPart = 5_400;
/** An answer has at most 50 refusals, of less than 1,700 bytes each. */
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
