import { GraphQLError, GraphQLScalarType, Kind } from 'graphql';

const form = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;

/** ISO 8601 outside, milliseconds since 1970 inside. */
export const dateTime = new GraphQLScalarType<number, string>({
  name: 'DateTime',
  serialize: (value) => new Date(value as number).toISOString(),
  parseValue: parseDateTime,
  parseLiteral(node) {
    if (node.kind !== Kind.STRING) throw new GraphQLError('DateTime is written as a string.', { nodes: node });
    return parseDateTime(node.value);
  },
});

function parseDateTime(value: unknown): number {
  const time = typeof value === 'string' && value.length <= 40 && form.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(time) || !isDay(String(value).slice(0, 10)))
    throw new GraphQLError('DateTime must be ISO 8601 with an offset, as 2026-11-20T08:30:00.000Z.');
  return time;
}

/** Date.parse takes a 30th of February for the 2nd of March. */
function isDay(day: string): boolean {
  return new Date(day).toISOString().startsWith(day);
}
