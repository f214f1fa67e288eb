export const graphqlResponse = 'application/graphql-response+json';
export const json = 'application/json';
export const eventStream = 'text/event-stream';
export const html = 'text/html';

export type MediaType = typeof graphqlResponse | typeof json | typeof eventStream | typeof html;

/** How much a client wants each media type, from its `Accept`; what it does not want is 0 (RFC 9110, 12.5.1). */
export interface Preferences {
  of(type: MediaType): number;
  /** Whether it names the type itself, not by a wildcard. */
  names(type: MediaType): boolean;
}

const maxRanges = 50;

export function parseAccept(accept: string | undefined): Preferences {
  const ranges = new Map<string, number>();
  for (const range of (accept?.trim() || '*/*').split(',', maxRanges)) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    ranges.set(type, parseWeight(parameters));
  }
  return {
    of: (type) => ranges.get(type) ?? ranges.get(`${type.split('/')[0]}/*`) ?? ranges.get('*/*') ?? 0,
    names: (type) => (ranges.get(type) ?? 0) > 0,
  };
}

function parseWeight(parameters: readonly string[]): number {
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  if (weight === undefined) return 1;
  return /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(weight) ? Number(weight) : 0;
}
