import { connect } from 'node:net';
import { OperationTypeNode } from 'graphql';
import type { Choices } from '../clients/choices.ts';
import { generateRequest } from '../clients/documents.ts';
import { type Case, type Outcome, type Step, within } from './case.ts';
import { distort, type FaultsOf, faultyOf } from './faults.ts';
import { type Json, print } from './json.ts';
import type { Shape } from './shapes.ts';
import type { FuzzData, Target } from './target.ts';
import { hostileDocument, mutate, oddBytes, oddValue } from './texts.ts';

/** Each fault of each request, on a connection of its own. */
export function* httpCases(shapes: readonly Shape[], faultsOf: FaultsOf): Generator<Case> {
  for (const shape of shapes) {
    for (const json of faultyOf(shape, faultsOf)) yield httpCase(shape.name, [shapedRequest(json)]);
  }
}

export function validHttpCases(shapes: readonly Shape[]): Case[] {
  return shapes.map(({ name, valid, isValid }) =>
    httpCase(name, [{ ...shapedRequest(valid), validId: isValid ? 'request' : undefined }]),
  );
}

const httpCase = (name: string, steps: Step[]): Case => ({ transport: 'http', name, steps });

type Headers = readonly (readonly [name: string, value: string])[];

/** `content-length: *` is replaced when the request is sent, so that a shortened request has the right length. */
function request(line: string, headers: Headers, body?: string): Step {
  const length = body === undefined ? [] : [['content-length', '*'] as const];
  const lines = [...headers, ...length].map(([name, value]) => `${name}: ${value}\r\n`);
  return { kind: 'request', text: `${line} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}` };
}

function shapedRequest(json: Json): Step {
  const fields = new Map('fields' in json ? json.fields : []);
  const entriesOf = (name: string): Headers => {
    const inner = fields.get(name);
    return inner && 'fields' in inner ? inner.fields.map(([key, value]) => [key, contentOf(value)] as const) : [];
  };
  const parameters = entriesOf('parameters').map((pair) => pair.map(encode).join('='));
  const search = parameters.length > 0 ? `?${parameters.join('&')}` : '';
  const body = fields.get('body');
  const line = `${contentOf(fields.get('method'))} ${contentOf(fields.get('target'))}${search}`;
  return request(line, entriesOf('headers'), body && print(body));
}

const encode = (text: string) => encodeURIComponent(text.toWellFormed());

/** A string without its quotes: that is how it is in a header or a URL. */
function contentOf(json: Json | undefined): string {
  const text = json ? print(json) : '';
  return text.startsWith('"') ? String(JSON.parse(text)) : text;
}

/** One random request, or a few that are sent at once on one connection. */
export function randomHttpCase(data: FuzzData, shapes: readonly Shape[], choices: Choices): Case {
  const count = choices.chance(10) ? 1 + choices.below(4) : 1;
  return httpCase(
    'http random',
    Array.from({ length: count }, () => createStep(data, shapes, choices)),
  );
}

function createStep({ schema, people, documents }: FuzzData, shapes: readonly Shape[], choices: Choices): Step {
  const person = choices.chance(70) ? choices.oneOf(people) : undefined;
  const type = ['content-type', 'application/json'] as const;
  const authorization: Headers = person ? [['authorization', `Bearer ${person.token}`]] : [];
  const headersOf = (accept: string): Headers => [['host', 'localhost'], type, ['accept', accept], ...authorization];
  const headers = headersOf('application/graphql-response+json');
  const post = (body: object | string, sent = headers) =>
    request('POST /graphql', sent, typeof body === 'string' ? body : JSON.stringify(body));
  const kind = choices.below(100);
  if (kind < 5) {
    const streamed = generateRequest(schema, choices, { ...documents, kinds: [OperationTypeNode.SUBSCRIPTION] });
    const accept = choices.oneOf(['text/event-stream', 'multipart/mixed;subscriptionSpec=1.0'] as const);
    return { ...post(streamed, headersOf(accept)), validId: 'request' };
  }
  const shape = kind < 25 ? choices.oneOf(shapes) : undefined;
  if (shape) return shapedRequest(distort(shape, choices));
  const generated = generateRequest(schema, choices, documents);
  const { query, variables, operationName } = generated;
  const asked = { query, variables, operationName };
  if (kind < 45) return { ...post(asked), validId: 'request' };
  if (kind < 50) return get(headers, { ...asked, query: mutate(query, choices) }, choices);
  if (kind < 65) return post({ ...asked, query: mutate(query, choices) });
  if (kind < 72) return post({ query: hostileDocument(choices), variables });
  if (kind < 80) return post({ ...generated, ...corruptFields(generated, choices) });
  if (kind < 85) return post(mutate(JSON.stringify(asked), choices));
  const body = JSON.stringify(asked);
  if (kind < 92) return request(`${choices.oneOf(methods)} /graphql`, [...headers, ...oddHeaders(choices)], body);
  return { kind: 'bytes', text: createBytes(post(asked).text, choices).toString('latin1') };
}

function get(headers: Headers, parameters: object, choices: Choices): Step {
  const search = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : `${name}=${encode(typeof value === 'string' ? value : JSON.stringify(value))}`,
  );
  const text = search.join('&');
  return request(
    `GET /graphql?${choices.chance(30) ? encodeURI(mutate(text, choices).toWellFormed()) : text}`,
    headers,
  );
}

/** Replaces one member of the request by an invalid value. */
function corruptFields(given: object, choices: Choices): Record<string, unknown> {
  const name = choices.oneOf([...Object.keys(given), 'extensions', 'other']) ?? 'query';
  if (name !== 'variables' || choices.chance(30)) return { [name]: oddValue(choices) };
  const variables = (given as { variables: Record<string, unknown> }).variables;
  const variable = choices.oneOf([...Object.keys(variables), 'unknown']) ?? 'unknown';
  return { variables: { ...variables, [variable]: oddValue(choices) } };
}

const methods = ['POST', 'GET', 'PUT', 'HEAD', 'OPTIONS', 'DELETE', 'PATCH', 'TRACE'] as const;
const headerNames =
  'accept content-type content-encoding authorization origin last-event-id x-forwarded-for if-none-match sec-fetch-site access-control-request-method expect upgrade cookie'.split(
    ' ',
  );
const headerValues = [
  ...['*/*', 'application/json;q=0.5, text/event-stream;q=2', 'application/json; charset=utf-16', 'text/html'],
  ...['multipart/form-data; boundary=x', 'multipart/mixed;subscriptionSpec=1.0;q=0.9, */*;q=0.1', 'gzip', 'null'],
  ...['Bearer x.y.z', 'ApiKey x', 'Basic Og==', 'http://localhost:4000', '100-continue', 'websocket', 'W/"x"'],
  ...['*', ',,,;;;q='],
];

function oddHeaders(choices: Choices): Headers {
  return Array.from({ length: 1 + choices.below(3) }, () => {
    const value = choices.oneOf(headerValues) ?? '';
    const text = choices.chance(50) ? mutate(value, choices) : value;
    return [choices.oneOf(headerNames) ?? '', text.replace(/[^\t\x20-\x7e\x80-\xff]/g, '?')];
  });
}

/** A request as bytes, possibly malformed. */
function createBytes(text: string, choices: Choices): Buffer {
  const [head = '', body = ''] = toBytes(text).toString().split('\r\n\r\n');
  const bytes = oddBytes(`${choices.chance(70) ? mutate(head, choices) : head}\r\n\r\n${body}`, choices);
  return choices.chance(20) ? bytes.subarray(0, choices.below(bytes.length)) : bytes;
}

function toBytes(text: string): Buffer {
  const body = text.slice(text.indexOf('\r\n\r\n') + 4);
  return Buffer.from(text.replace('\r\ncontent-length: *', `\r\ncontent-length: ${Buffer.byteLength(body)}`));
}

export async function runHttpCase(target: Target, { steps }: Case, outcome: Outcome, ms: number): Promise<void> {
  const isMalformed = steps.some(({ kind }) => kind === 'bytes');
  const exchanged = exchange(target.postroom.url, steps, isMalformed);
  const received = await within(ms, Promise.race([exchanged, target.ended]));
  // The server is right to wait for the rest of a header.
  const isWhole = steps.every(({ text }) => text.includes('\r\n\r\n'));
  if (received === 'late')
    return isWhole ? outcome.fault('no answer') : outcome.count('waits for the rest of a request');
  if (received === 'ended') return;
  const responses = readResponses(received, steps);
  // The connection may be closed as a reaction to malformed bytes, also to those after a valid request.
  if (responses.length === 0 && !isMalformed && steps.length === 1) outcome.fault('no answer');
  for (const { status, body } of responses) {
    outcome.count(`HTTP ${status}`);
    if (status >= 500) outcome.fault(`status ${status}`);
    outcome.recordErrors(readErrors(body), steps.length === 1 && steps[0]?.validId !== undefined);
  }
}

/** Resolves with everything that the server sends until it closes the connection or has answered every request. */
function exchange(url: string, steps: readonly Step[], isMalformed: boolean): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
      const responses = readResponses(text, steps);
      const isDone = responses.length === steps.length || responses.at(-1)?.isLast;
      if (!isMalformed && isDone && responses.at(-1)?.isWhole) socket.destroy();
    });
    socket.on('error', () => {});
    socket.once('close', () => resolve(text));
    const requests = steps.map(({ kind, text }) => (kind === 'bytes' ? Buffer.from(text, 'latin1') : toBytes(text)));
    if (isMalformed) socket.end(Buffer.concat(requests));
    else socket.write(Buffer.concat(requests));
  });
}

interface Response {
  status: number;
  body: string;
  isWhole: boolean;
  /** Whether no response can follow. */
  isLast: boolean;
}

const streamType = /^content-type: (text\/event-stream|multipart)/im;
const firstEvent = /\n(id: |:|event: next\n|--graphql)/;

function readResponses(received: string, steps: readonly Step[]): Response[] {
  const responses: Response[] = [];
  for (let rest = received; rest.includes('\r\n\r\n'); ) {
    const end = rest.indexOf('\r\n\r\n') + 4;
    const head = rest.slice(0, end);
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0);
    const isHead = steps[responses.length]?.text.startsWith('HEAD ') ?? false;
    const isStream = streamType.test(head);
    const given = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
    const length = isHead || status === 304 ? 0 : isStream ? rest.length - end : given;
    const body = rest.slice(end, end + length);
    // The first event of a stream is enough, and so is the beginning of a page, which has megabytes.
    const isWhole = isStream ? isHead || firstEvent.test(body) : body.length === length || length > 100_000;
    if (status !== 100) responses.push({ status, body, isWhole, isLast: isStream || status === 101 });
    rest = rest.slice(end + length);
  }
  return responses;
}

function readErrors(body: string): unknown {
  try {
    return (JSON.parse(/^data: (.*)$/m.exec(body)?.[1] ?? body) as { errors?: unknown }).errors;
  } catch {
    return undefined;
  }
}
