import fc from 'fast-check';
import { OperationTypeNode } from 'graphql';
import { expect, it } from 'vitest';
import { type Choices, choices } from '../support/clients/choices.ts';
import { generateRequest } from '../support/clients/documents.ts';
import { multipartHeaders } from '../support/clients/event-stream.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { createData, type FuzzData } from '../support/fuzz/target.ts';
import { hostileDocument, mutate } from '../support/fuzz/texts.ts';
import { launchForTest, type ReplyError } from '../support/server/postroom.ts';

interface Asked {
  query: string;
  variables: object;
  operationName?: string;
}

/** The response that a client receives, over any transport. */
interface Heard {
  data: unknown;
  errors: ReplyError[] | undefined;
  status?: number | undefined;
}

/** Generates a request that does not change later results: mutations are sent without credentials, and fail. */
function createQuestion({ schema, documents }: FuzzData, made: Choices, isSignedIn: boolean): Asked {
  const kind = made.below(100);
  const mayChange = !isSignedIn && kind < 20;
  const kinds = [mayChange ? OperationTypeNode.MUTATION : OperationTypeNode.QUERY] as const;
  const { query, variables, operationName } = generateRequest(schema, made, { ...documents, kinds });
  const named = operationName ? { operationName } : {};
  if (kind < 70) return { query, variables, ...named };
  if (kind < 80) return { query: mutate(query, made).toWellFormed(), variables: {}, ...named };
  if (kind < 90) return { query: hostileDocument(made), variables: {} };
  return { query, variables: { ...variables, v0: [{}] }, operationName: 'Main' };
}

function format({ data, errors, status }: Heard) {
  const formatted = errors?.map(({ extensions: { requestId, ...extensions }, ...error }) => ({ ...error, extensions }));
  // Errors are sorted: which of two concurrent reads fails first depends on the database.
  // Data is compared as text, because the order of keys matters.
  return {
    status,
    data: JSON.stringify(data),
    errors: formatted?.sort((one, other) => String(one.path).localeCompare(String(other.path))),
  };
}

async function askOverHttp(url: string, asked: Asked, authorization: object, accept: string): Promise<Heard> {
  const headers = { 'content-type': 'application/json', accept, ...authorization };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(asked) });
  const text = await response.text();
  const json = /^event: next\ndata: (.*)$/m.exec(text)?.[1] ?? text;
  return { ...JSON.parse(json), status: response.status };
}

async function askOverWebSocket(socket: ProtocolSocket, id: string, asked: Asked): Promise<Heard> {
  socket.send({ type: 'subscribe', id, payload: asked });
  const { type, payload } = await socket.take((message) => message.id === id && message.type !== 'complete');
  return type === 'error' ? { data: undefined, errors: payload } : payload;
}

it('200 operations get equal data, errors and codes over HTTP, WebSocket and SSE, and for a client that also accepts multipart', async () => {
  const postroom = await launchForTest({ RATE_LIMIT: '0', LIMIT_MESSAGES: '100000' });
  const target = await createData(postroom);
  const authorization = { authorization: `Bearer ${target.people[0].token}` };
  const open = (init: Record<string, unknown>) => ProtocolSocket.open(postroom.webSocketUrl, { init });
  const sockets = { signedIn: await open(authorization), anonymous: await open({}) };
  const codes = new Set<string | undefined>();
  let count = 0;
  const property = fc.asyncProperty(choices(), fc.boolean(), async (made, isSignedIn) => {
    count += 1;
    const asked = createQuestion(target, made, isSignedIn);
    const headers = isSignedIn ? authorization : {};
    const http = await askOverHttp(postroom.graphqlUrl, asked, headers, 'application/graphql-response+json');
    const sse = await askOverHttp(postroom.graphqlUrl, asked, headers, 'text/event-stream');
    const multipart = await askOverHttp(postroom.graphqlUrl, asked, headers, multipartHeaders.accept);
    const webSocket = await askOverWebSocket(isSignedIn ? sockets.signedIn : sockets.anonymous, String(count), asked);
    expect(format(sse)).toEqual(format(http));
    expect(format(multipart)).toEqual(format(http));
    expect(format({ ...webSocket, status: http.status })).toEqual(format(http));
    codes.add(http.errors?.[0]?.extensions.code);
  });
  await fc.assert(property, { numRuns: 200 });
  // The operations had different outcomes.
  expect([...codes]).toEqual(expect.arrayContaining([undefined, 'GRAPHQL_PARSE_FAILED', 'UNAUTHENTICATED']));
  expect(postroom.log).toEqual([]);
}, 60_000);
