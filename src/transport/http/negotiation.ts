export const graphqlResponseType = 'application/graphql-response+json';
export const jsonType = 'application/json';
export const eventStreamType = 'text/event-stream';
/** Only a client that names this protocol receives it; `multipart/mixed` alone may mean another one. */
export const multipartMixedType = 'multipart/mixed;subscriptionspec=1.0';
const htmlType = 'text/html';

type MediaType = typeof graphqlResponseType | typeof jsonType | typeof eventStreamType;

/** The media types that a client accepts, among those that the server can produce. */
export interface Accepted {
  /** The media type of a result; undefined if the client accepts none that the server can produce. */
  result: MediaType | undefined;
  /** Also if another type has a higher weight. */
  acceptsJson: boolean;
  /** The media type of a stream of results; undefined if the client accepts none. */
  stream: typeof eventStreamType | typeof multipartMixedType | undefined;
  /** Whether the client prefers an HTML page. */
  prefersPage: boolean;
}

const maxRanges = 50;
const maxCachedLength = 500;
/** Results by header, because clients send only a few different headers. */
const cached = new Map<string, Accepted>();
const maxCached = 200;

/** Parses an `Accept` header (RFC 9110, 12.5.1). */
export function parseAccept(accept = ''): Accepted {
  const accepted = cached.get(accept) ?? negotiate(accept);
  if (cached.size === maxCached) cached.clear();
  if (accept.length <= maxCachedLength) cached.set(accept, accepted);
  return accepted;
}

/** The weight of each media range. */
type Ranges = ReadonlyMap<string, number>;

function negotiate(accept: string): Accepted {
  const ranges = parseRanges(accept.trim() || '*/*');
  const single = Math.max(weightOf(graphqlResponseType, ranges), weightOf(jsonType, ranges));
  const stream = weightOf(eventStreamType, ranges);
  const prefersStream = stream > single && (ranges.has(eventStreamType) || single === 0);
  const result = prefersStream ? eventStreamType : single > 0 ? chooseJson(ranges) : undefined;
  const prefersPage = (ranges.get(htmlType) ?? 0) > Math.max(single, stream);
  return { result, acceptsJson: weightOf(jsonType, ranges) > 0, stream: chooseStream(ranges), prefersPage };
}

/** Of equal weights, a type that the client names; of these, text/event-stream, which can resume by itself. */
function chooseStream(ranges: Ranges): Accepted['stream'] {
  const sse = weightOf(eventStreamType, ranges);
  const multipart = ranges.get(multipartMixedType) ?? 0;
  const prefersMultipart = multipart > sse || (multipart === sse && !ranges.has(eventStreamType));
  if (multipart > 0 && prefersMultipart) return multipartMixedType;
  return sse > 0 ? eventStreamType : undefined;
}

/** A client that does not name application/graphql-response+json, or prefers JSON to it, may not support it. */
function chooseJson(ranges: Ranges): MediaType {
  const graphqlWeight = weightOf(graphqlResponseType, ranges);
  const jsonWeight = weightOf(jsonType, ranges);
  const prefersGraphql = ranges.has(graphqlResponseType) && graphqlWeight > 0 && graphqlWeight >= jsonWeight;
  return jsonWeight === 0 || prefersGraphql ? graphqlResponseType : jsonType;
}

/** The weight of the most specific matching range. */
function weightOf(type: MediaType, ranges: Ranges): number {
  return ranges.get(type) ?? ranges.get(type.replace(/\/.*/, '/*')) ?? ranges.get('*/*') ?? 0;
}

function parseRanges(accept: string): Ranges {
  const ranges = new Map<string, number>();
  for (const range of accept.split(',', maxRanges)) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const name = isMultipart(type, parameters) ? multipartMixedType : type;
    if (isUtf8(parameters)) ranges.set(name, parseWeight(parameters));
  }
  return ranges;
}

function isMultipart(type: string, parameters: readonly string[]): boolean {
  return type === 'multipart/mixed' && parameters.some((parameter) => /^subscriptionspec=("?)1\.0\1$/.test(parameter));
}

/** Whether the parameters of a media type name UTF-8 or no charset at all. */
export function isUtf8(parameters: readonly string[]): boolean {
  const charset = parameters.find((parameter) => parameter.startsWith('charset='));
  return charset === undefined || /^charset=("?)utf-?8\1$/.test(charset);
}

/** A malformed weight counts as 0. */
function parseWeight(parameters: readonly string[]): number {
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
  return /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(weight) ? Number(weight) : 0;
}
