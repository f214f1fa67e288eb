import { at, type Json, toJson } from './json.ts';
import { allowedOrigin, type FuzzData } from './target.ts';

/** A message, a request or a line: a valid value of each field, and its bounds. */
export interface Shape {
  name: string;
  valid: Json;
  /** Whether the server must accept it as it is. */
  isValid: boolean;
}

type Table = Record<string, object>;

export function createShapes(data: FuzzData): { websocket: Shape[]; http: Shape[]; import: Shape[] } {
  const operations = createOperations(data);
  return {
    websocket: toShapes('websocket', createMessages(data, operations)),
    http: toShapes('http', createRequests(data, operations)),
    import: toShapes('import', records),
  };
}

/** Shapes whose answer is an error, such as an unknown document, or has a body that is not GraphQL. */
const mayFail = /stored|GET mutation|handshake|GET \/|OPTIONS/;

function toShapes(transport: string, table: Table): Shape[] {
  return Object.entries(table).map(([row, valid]) => {
    const name = `${transport} ${row}`;
    return { name, valid: toJson(valid), isValid: !mayFail.test(name) };
  });
}

const time = '2026-11-20T08:30:00.000Z';
const name = at('name', 80);
const texts = { title: at('title', 200), body: at('body', 20_000) };

const records: Table = {
  room: { type: 'room', name },
  user: { type: 'user', name, createdAt: time },
  post: { type: 'post', room: name, author: name, ...texts, publishedAt: time },
};

const trace = { traceparent: at(`00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`, 200), tracestate: at('a=b', 512) };
const extensions = { cost: true, ...trace };

const documents = {
  query:
    'query Q($id: ID!, $page: Int, $limit: Int, $filter: PostFilter, $order: PostOrder) { post(id: $id) { id } posts(page: $page, limit: $limit, filter: $filter, order: $order) { data { id } } }',
  mutation:
    'mutation ($input: CreatePostInput!, $key: String!) { createPost(input: $input) @idempotent(key: $key) { post { id } } }',
  subscription: 'subscription ($room: ID!, $after: String) { roomEvents(room: $room, after: $after) { cursor } }',
  inbox: 'subscription ($after: [String!]) { inbox(after: $after) { cursor } }',
};

function createOperations({ room, post, cursor }: FuzzData): Table {
  const { query, mutation, subscription, inbox } = documents;
  const filter = { room, title: at('post', 100), publishedBefore: time };
  const page = { page: at(1, 2 ** 31 - 1), limit: at(20, 100), filter, order: 'OLDEST_FIRST' };
  const persistedQuery = { version: 1, sha256Hash: at('ab'.repeat(32), 64) };
  return {
    query: {
      query: at(query, 100_000),
      operationName: at('Q', 200),
      variables: { id: at(post, 100), ...page },
      extensions,
    },
    mutation: { query: mutation, variables: { input: { room, ...texts, publish: false }, key: at('key', 255) } },
    subscription: { query: subscription, variables: { room: at(room, 100), after: at(cursor, 200) }, extensions },
    inbox: { query: inbox, variables: { after: at([at(cursor, 200)], 1_000) } },
    stored: { query: '', documentId: at('document', 200), extensions: { persistedQuery } },
  };
}

function createMessages({ people: [{ token }], cursor }: FuzzData, operations: Table): Table {
  const id = at('op', 200);
  const authorization = at(`Bearer ${token}`, 16_000);
  const live = { seen: at({ op: at(cursor, 200), inbox: at([at(cursor, 200)], 1_000) }, 100) };
  const subscribe = Object.entries(operations).map(([row, payload]) => [
    `subscribe ${row}`,
    { type: 'subscribe', id, payload },
  ]);
  return {
    connection_init: { type: 'connection_init', id, payload: { authorization, live } },
    ping: { type: 'ping', id, payload: { authorization, text: at('text', 16_300) } },
    pong: { type: 'pong', id, payload: { live: { op: cursor } } },
    complete: { type: 'complete', id, payload: {} },
    ...Object.fromEntries(subscribe),
  };
}

const json = 'application/graphql-response+json';
const eventStream = 'text/event-stream';
const multipart = 'multipart/mixed;subscriptionSpec=1.0';
const pages = ['/graphql', '/console', '/metrics'];
const otherPaths = ['/health', '/ready', '/', '/.well-known/oauth-protected-resource'];

function createRequests({ people: [{ token }], cursor }: FuzzData, operations: Table): Table {
  const target = '/graphql';
  const headersOf = (accept: string) => ({
    host: 'localhost',
    accept: at(accept, 500),
    authorization: at(`Bearer ${token}`, 16_000),
  });
  const plain = headersOf(json);
  const streamed = Object.keys(operations).flatMap((row) => {
    const accepts = /subscription|inbox/.test(row) ? { eventStream, multipart } : { json, eventStream };
    return Object.entries(accepts).map(([kind, accept]) => {
      const headers = { ...headersOf(accept), ...(kind !== 'json' && { 'last-event-id': at(cursor, 200) }) };
      return { row, kind, headers };
    });
  });
  const posts = streamed.map(({ row, kind, headers }) => [
    `POST ${row} ${kind}`,
    {
      ...{ method: 'POST', target, body: operations[row] },
      headers: { ...headers, 'content-type': at('application/json', 500) },
    },
  ]);
  const gets = streamed.map(({ row, kind, headers }) => [
    `GET ${row} ${kind}`,
    { method: 'GET', target, headers, parameters: operations[row] },
  ]);
  const headers = {
    ...headersOf('text/html'),
    ...{ 'accept-encoding': 'gzip', 'if-none-match': at('"x"', 500), 'last-event-id': at(cursor, 200) },
    ...{ origin: allowedOrigin, 'sec-fetch-site': 'same-origin', 'x-forwarded-for': '127.0.0.1' },
    ...{ 'access-control-request-method': 'POST', expect: '100-continue', cookie: at('a=b', 15_000), ...trace },
  };
  const upgrade = {
    ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': at(13) },
    'sec-websocket-key': at('dGhlIHNhbXBsZSBub25jZQ==', 24),
    'sec-websocket-protocol': at('graphql-transport-ws', 200),
  };
  return {
    ...Object.fromEntries([...posts, ...gets]),
    ...Object.fromEntries(pages.map((path) => [`GET ${path}`, { method: 'GET', target: at(path, 8_192), headers }])),
    ...Object.fromEntries(otherPaths.map((path) => [`GET ${path}`, { method: 'GET', target: path, headers: plain }])),
    'OPTIONS /graphql': { method: 'OPTIONS', target, headers },
    'OPTIONS *': { method: 'OPTIONS', target: '*', headers: plain },
    'GET handshake': { method: 'GET', target, headers: { ...plain, ...upgrade } },
  };
}
