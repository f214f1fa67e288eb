export const graphqlResponse = 'application/graphql-response+json';
export const json = 'application/json';
export const eventStream = 'text/event-stream';
const html = 'text/html';

type MediaType = typeof graphqlResponse | typeof json | typeof eventStream;

/** The media types that a client accepts, among those that the server can produce. */
export interface Accepted {
  /** The media type of a result; undefined if the client accepts none that the server can produce. */
  result: MediaType | undefined;
  /** Whether the client accepts a stream of results. */
  stream: boolean;
  /** Whether the client prefers an HTML page. */
  prefersPage: boolean;
}

const maxRanges = 50;
const maxCached = 200;
const maxCachedLength = 500;
const cached = new Map<string, Accepted>();

/**
 * Parses an `Accept` header (RFC 9110, 12.5.1). Results are cached, because clients send only a few different values.
 */
export function parseAccept(accept = ''): Accepted {
  const known = cached.get(accept);
  if (known) return known;
  const accepted = negotiate(readRanges(accept.trim() || '*/*'));
  if (accept.length > maxCachedLength) return accepted;
  if (cached.size >= maxCached) cached.clear();
  cached.set(accept, accepted);
  return accepted;
}

/** The weight of each media range. */
type Ranges = ReadonlyMap<string, number>;

function negotiate(ranges: Ranges): Accepted {
  const plain = Math.max(weigh(ranges, graphqlResponse), weigh(ranges, json));
  const stream = weigh(ranges, eventStream);
  const prefersStream = stream > plain && (ranges.has(eventStream) || plain === 0);
  const result = prefersStream ? eventStream : plain > 0 ? choosePlain(ranges) : undefined;
  return { result, stream: stream > 0, prefersPage: (ranges.get(html) ?? 0) > Math.max(plain, stream) };
}

/** A client that does not name application/graphql-response+json, or ranks it lower, may not support it. */
function choosePlain(ranges: Ranges): MediaType {
  const own = weigh(ranges, graphqlResponse);
  const common = weigh(ranges, json);
  const prefersOwn = ranges.has(graphqlResponse) && own > 0 && own >= common;
  return common === 0 || prefersOwn ? graphqlResponse : json;
}

/** The weight of the most specific matching range. */
function weigh(ranges: Ranges, type: MediaType): number {
  return ranges.get(type) ?? ranges.get(`${type.slice(0, type.indexOf('/'))}/*`) ?? ranges.get('*/*') ?? 0;
}

function readRanges(accept: string): Ranges {
  const ranges = new Map<string, number>();
  for (const range of accept.split(',', maxRanges)) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    if (isUtf8(parameters)) ranges.set(type, readWeight(parameters));
  }
  return ranges;
}

/** Whether the parameters of a media type name UTF-8 or no charset at all. */
export function isUtf8(parameters: readonly string[]): boolean {
  const charset = parameters.find((parameter) => parameter.startsWith('charset='));
  return charset === undefined || /^charset=("?)utf-?8\1$/.test(charset);
}

function readWeight(parameters: readonly string[]): number {
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  if (weight === undefined) return 1;
  return /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(weight) ? Number(weight) : 0;
}
