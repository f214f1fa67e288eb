import { type ASTNode, GraphQLError, GraphQLScalarType, Kind } from 'graphql';

/**
 * All that the specification allows, and fractions of another length or none, which many languages write. Date.parse
 * checks the month, minutes and seconds.
 */
const form = /^\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):\d{2}:\d{2}(\.\d{1,9})?(Z|(?!-00:00)[+-]([01]\d|2[0-3]):\d{2})$/;

/** ISO 8601 in GraphQL, milliseconds since 1970 in the server. */
export const dateTime = new GraphQLScalarType<number, string>({
  name: 'DateTime',
  // Repeated from schema.graphql, because the scalar replaces the description and the URL there.
  description:
    'A time in UTC, in ISO 8601: `2026-11-20T08:30:00.000Z`. Input may have any UTC offset, and no fraction or one of up\n' +
    'to nine digits. The precision is 1 ms.',
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time.html',
  serialize: createFormat(),
  parseValue: (value) => parseDateTime(value),
  parseLiteral(node) {
    if (node.kind !== Kind.STRING) throw new GraphQLError('DateTime is written as a string.', { nodes: node });
    return parseDateTime(node.value, node);
  },
});

const dayMs = 24 * 60 * 60 * 1_000;

/**
 * Formats as `toISOString` does, which is slow for long lists. The date is cached, because values of one list are often
 * of the same day. @throws RangeError.
 */
function createFormat(): (value: unknown) => string {
  let lastDay = Number.NaN;
  let date = '';
  return (value) => {
    const time = value as number;
    const day = Math.floor(time / dayMs);
    if (day !== lastDay) date = new Date(time).toISOString().slice(0, -'00:00:00.000Z'.length);
    lastDay = day;
    const milliseconds = time - day * dayMs;
    const seconds = Math.floor(milliseconds / 1_000);
    const clock = `${pad(Math.floor(seconds / 3_600))}:${pad(Math.floor(seconds / 60) % 60)}:${pad(seconds % 60)}`;
    return `${date}${clock}.${pad(milliseconds % 1_000, 3)}Z`;
  };
}

function pad(number: number, length = 2): string {
  return String(number).padStart(length, '0');
}

/** `node`: the literal, which the error names by its location. */
function parseDateTime(value: unknown, node?: ASTNode): number {
  // Date.parse accepts only upper case.
  const text = typeof value === 'string' && value.length <= 40 ? value.toUpperCase() : '';
  const time = form.test(text) ? Date.parse(text) : Number.NaN;
  const day = text.slice(0, 10);
  // Date.parse reads the 30th of February as the 2nd of March.
  if (!Number.isNaN(time) && new Date(day).toISOString().startsWith(day)) return time;
  throw new GraphQLError('DateTime must be ISO 8601 with an offset, as 2026-11-20T08:30:00.000Z.', { nodes: node });
}
