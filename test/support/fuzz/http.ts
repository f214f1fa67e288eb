import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { OperationTypeNode } from 'graphql';
import type { Choices } from '../clients/choices.ts';
import { generateRequest } from '../clients/documents.ts';
import { recordErrors, type Tally, type Target, within } from './target.ts';
import { hostileDocument, mutate, oddBytes, oddValue } from './texts.ts';

const timeoutMs = 20_000;

/** One request, either well-formed HTTP or malformed. */
export interface HttpCase {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: Buffer;
  /** Whether the request is valid by construction. */
  isValid: boolean;
  /** Sent unchanged on a separate connection. */
  raw?: Buffer;
}

const plain = { 'content-type': 'application/json', accept: 'application/graphql-response+json' };

export function createHttpCase({ schema, people, documents }: Target, choices: Choices): HttpCase {
  const person = choices.chance(70) ? choices.oneOf(people) : undefined;
  const headers: Record<string, string> = { ...plain, ...(person && { authorization: `Bearer ${person.token}` }) };
  const kind = choices.below(100);
  if (kind < 5) {
    const streamed = generateRequest(schema, choices, { ...documents, kinds: [OperationTypeNode.SUBSCRIPTION] });
    const accept = choices.oneOf(['text/event-stream', 'multipart/mixed;subscriptionSpec=1.0'] as const);
    return post({ ...headers, accept }, JSON.stringify(streamed), true);
  }
  const generated = generateRequest(schema, choices, documents);
  const { query, variables, operationName } = generated;
  const text = JSON.stringify({ query, variables, operationName });
  if (kind < 45) return post(headers, text, true);
  if (kind < 50) return get(headers, { ...generated, query: mutate(query, choices) }, choices);
  if (kind < 65) return post(headers, JSON.stringify({ query: mutate(query, choices), variables, operationName }));
  if (kind < 72) return post(headers, JSON.stringify({ query: hostileDocument(choices), variables }));
  if (kind < 80) return post(headers, JSON.stringify({ ...generated, ...corruptFields(generated, choices) }));
  if (kind < 85) return post(headers, mutate(text, choices));
  if (kind < 92) return { ...post({ ...headers, ...oddHeaders(choices) }, text), method: choices.oneOf(methods) };
  return { ...post(headers, text), raw: createRaw(headers, text, choices) };
}

function post(headers: Record<string, string>, body: string, isValid = false): HttpCase {
  return { method: 'POST', path: '/graphql', headers, body: Buffer.from(body), isValid };
}

function get(headers: Record<string, string>, parameters: object, choices: Choices): HttpCase {
  const search = new URLSearchParams(
    Object.entries(parameters).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );
  const path = `/graphql?${choices.chance(30) ? encodeURI(mutate(String(search), choices).toWellFormed()) : search}`;
  const { accept = '*/*', authorization } = headers;
  return { method: 'GET', path, headers: { accept, ...(authorization && { authorization }) }, isValid: false };
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
const headerNames = [
  'accept',
  'content-type',
  'content-encoding',
  'authorization',
  'origin',
  'last-event-id',
  'x-forwarded-for',
  'if-none-match',
  'sec-fetch-site',
  'access-control-request-method',
  'expect',
  'upgrade',
  'cookie',
] as const;
const headerValues = [
  '*/*',
  'application/json;q=0.5, text/event-stream;q=2',
  'application/json; charset=utf-16',
  'multipart/form-data; boundary=x',
  'multipart/mixed;subscriptionSpec=1.0;q=0.9, */*;q=0.1',
  'gzip',
  'Bearer x.y.z',
  'ApiKey x',
  'Basic Og==',
  'null',
  'http://localhost:4000',
  '100-continue',
  'websocket',
  'W/"x"',
  '*',
  ',,,;;;q=',
  'text/html',
] as const;

function oddHeaders(choices: Choices): Record<string, string> {
  const count = 1 + choices.below(3);
  return Object.fromEntries(
    Array.from({ length: count }, () => {
      const value = choices.oneOf(headerValues);
      const text = choices.chance(50) ? mutate(value, choices) : value;
      return [choices.oneOf(headerNames), text.replace(/[^\t\x20-\x7e\x80-\xff]/g, '?')];
    }),
  );
}

/** A request as bytes, possibly malformed. */
function createRaw(headers: Record<string, string>, body: string, choices: Choices): Buffer {
  const lines = Object.entries({ host: 'localhost', 'content-length': String(Buffer.byteLength(body)), ...headers });
  const head = ['POST /graphql HTTP/1.1', ...lines.map(([name, value]) => `${name}: ${value}`)].join('\r\n');
  const text = `${choices.chance(70) ? mutate(head, choices) : head}\r\n\r\n${body}`;
  const bytes = oddBytes(text, choices);
  return choices.chance(20) ? bytes.subarray(0, choices.below(bytes.length)) : bytes;
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

export async function sendHttpCase({ postroom }: Target, tally: Tally, one: HttpCase): Promise<void> {
  const given = { ...one, body: String(one.body), raw: one.raw?.toString('latin1') };
  const answer = await within(timeoutMs, one.raw ? sendRaw(postroom.url, one.raw) : send(postroom.url, one)).catch(
    (error: unknown) => String(error),
  );
  if (typeof answer === 'string') return tally.fault(answer, given);
  for (const status of answer.statuses) {
    tally.count(`HTTP ${status}`);
    if (status >= 500) tally.fault(`status ${status}`, { ...given, answer: answer.body });
  }
  recordErrors(tally, readErrors(answer.body), given, one.isValid);
}

interface HttpOutcome {
  statuses: number[];
  body: string;
}

function send(url: string, { method, path, headers, body }: HttpCase): Promise<HttpOutcome> {
  return new Promise((resolve, reject) => {
    const length = body ? { 'content-length': String(body.length) } : {};
    const sent: ClientRequest = request(`${url}${path}`, { method, headers: { ...length, ...headers }, agent });
    const answered = (response: IncomingMessage, text: string) =>
      resolve({ statuses: [response.statusCode ?? 0], body: text });
    sent.once('response', (response) => {
      let text = '';
      const isStream = /^(text\/event-stream|multipart\/mixed)/.test(response.headers['content-type'] ?? '');
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        // The first event of a stream is enough.
        if (isStream && /^(id: |:|event: next\ndata: .*\n|\r\n--graphql)/.test(text)) response.destroy();
      });
      response.once('close', () => answered(response, text));
    });
    sent.once('upgrade', (response, socket) => {
      socket.destroy();
      answered(response, '');
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

/** Collects all responses until the server closes the connection or has answered every request. */
function sendRaw(url: string, bytes: Buffer): Promise<HttpOutcome> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    // A reset is an allowed reaction to malformed bytes.
    socket.on('error', () => {});
    socket.once('close', () => {
      const statuses = [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status));
      resolve({ statuses: statuses.length > 0 ? statuses : [0], body: text.split('\r\n\r\n').at(-1) ?? '' });
    });
    socket.end(bytes);
  });
}

function readErrors(body: string): unknown {
  const text = /^event: next\ndata: (.*)$/m.exec(body)?.[1] ?? body;
  try {
    return (JSON.parse(text) as { errors?: unknown }).errors;
  } catch {
    return undefined;
  }
}
