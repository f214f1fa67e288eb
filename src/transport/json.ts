import { ClientError } from '../errors.ts';

const maxDepth = 64;
/** The longest list that a client needs has the 2,000 cursors of an inbox. */
const maxValues = 5_000;

const quote = '"'.charCodeAt(0);
const backslash = '\\'.charCodeAt(0);

/** Parses the JSON of a client. @throws ClientError BAD_REQUEST. */
export function parseClientJson(text: string): unknown {
  // A shorter text is within the limits.
  if (text.length > 2 * maxDepth) assertWithinLimits(text);
  try {
    return JSON.parse(text);
  } catch {
    throw new ClientError('BAD_REQUEST', 'The JSON does not parse.');
  }
}

/**
 * Checks the limits before the parse, which takes up to 50 ms for many values in 1 MB. JSON.parse itself has no limit of
 * depth, and functions that walk the result recursively would overflow the stack.
 */
function assertWithinLimits(text: string): void {
  let depth = 0;
  let values = 1;
  for (let index = 0; index < text.length; index += 1) {
    switch (text[index]) {
      case '"':
        index = findEndOfString(text, index + 1);
        break;
      case ',':
        values += 1;
        break;
      case '[':
      case '{':
        depth += 1;
        values += 1;
        break;
      case ']':
      case '}':
        depth -= 1;
    }
    if (depth > maxDepth) throw new ClientError('BAD_REQUEST', `The JSON is nested deeper than ${maxDepth}.`);
    if (values > maxValues) throw new ClientError('BAD_REQUEST', `The JSON has more than ${maxValues} values.`);
  }
}

/** The index of the quote that ends the string; the end of the text if there is none. */
function findEndOfString(text: string, start: number): number {
  const end = text.indexOf('"', start);
  if (end === -1) return text.length;
  if (text.charCodeAt(end - 1) !== backslash) return end;
  let index = start;
  while (index < text.length && text.charCodeAt(index) !== quote) index += text.charCodeAt(index) === backslash ? 2 : 1;
  return index;
}
