import { once } from 'node:events';
import type { Socket } from 'node:net';
import { OperationTypeNode } from 'graphql';
import WebSocket, { type RawData } from 'ws';
import type { Choices } from '../clients/choices.ts';
import { generateRequest } from '../clients/documents.ts';
import { recordErrors, type Tally, type Target, within } from './target.ts';
import { hostileDocument, mutate, oddBytes, oddValue } from './texts.ts';

const timeoutMs = 20_000;
const endMarker = 'end';

type Step =
  | { kind: 'text'; text: string; validId?: string; completes?: string }
  | { kind: 'binary'; bytes: Buffer }
  /** The bytes of a frame on the wire. */
  | { kind: 'frame'; bytes: Buffer };

/** The messages of one socket. */
export interface SocketCase {
  init: object | undefined;
  /** Whether the client sends without waiting for the acknowledgement. */
  isHasty: boolean;
  steps: Step[];
  /** The ids of the operations that are valid by construction. */
  validIds: ReadonlySet<string>;
}

export function createSocketCase(target: Target, choices: Choices, maxSteps: number): SocketCase {
  const person = choices.chance(60) ? choices.oneOf(target.people) : undefined;
  const payload = person ? { authorization: `Bearer ${person.token}` } : {};
  const init = choices.chance(5) ? undefined : { type: 'connection_init', payload };
  const isHasty = choices.chance(5);
  const isWellBehaved = !choices.chance(30);
  const length = 1 + choices.below(maxSteps);
  const steps = Array.from({ length }, (_, index) => createStep(target, choices, index, isWellBehaved));
  const validIds = new Set(steps.flatMap((step) => (step.kind === 'text' && step.validId ? [step.validId] : [])));
  return { init, isHasty, steps, validIds };
}

/** A step of a well-behaved client never requires the server to close the socket. */
function createStep(target: Target, choices: Choices, index: number, isWellBehaved: boolean): Step {
  const kind = choices.below(isWellBehaved ? 80 : 100);
  const id = `op${index}`;
  if (kind < 60) return subscribe(target, choices, id, kind);
  if (kind < 66) {
    const completes = `op${choices.below(index + 2)}`;
    return { ...text({ type: 'complete', id: completes }), completes };
  }
  if (kind < 72) return text({ type: choices.oneOf(['ping', 'pong']), ...(choices.chance(50) && { payload: {} }) });
  if (kind < 80) {
    const payload = { query: mutate(hostileDocument(choices), choices), variables: {} };
    return text({ type: 'subscribe', id, payload });
  }
  const types = [
    'subscribe',
    'complete',
    'ping',
    'connection_init',
    'next',
    'connection_ack',
    'error',
    'toString',
  ] as const;
  if (kind < 88) return text({ type: choices.oneOf(types), id: oddValue(choices), payload: oddValue(choices) });
  if (kind < 92) return { kind: 'text', text: mutate(JSON.stringify({ type: 'subscribe', id, payload: {} }), choices) };
  if (kind < 95) return { kind: 'text', text: JSON.stringify(oddValue(choices)) ?? '' };
  if (kind < 97) return { kind: 'binary', bytes: oddBytes(JSON.stringify({ type: 'ping' }), choices) };
  return { kind: 'frame', bytes: createFrame(choices) };
}

function subscribe({ schema, documents }: Target, choices: Choices, id: string, kind: number): Step {
  const kinds = [OperationTypeNode.SUBSCRIPTION] as const;
  const made = generateRequest(schema, choices, kind >= 30 && kind < 40 ? { ...documents, kinds } : documents);
  const { query, variables, operationName } = made;
  if (kind < 40)
    return { ...text({ type: 'subscribe', id, payload: { query, variables, operationName } }), validId: id };
  if (kind < 52) return text({ type: 'subscribe', id, payload: { query: mutate(query, choices), variables } });
  const name = choices.oneOf(['query', 'variables', 'operationName', 'extensions'] as const);
  return text({ type: 'subscribe', id, payload: { query, variables, [name]: oddValue(choices) } });
}

function text(message: object): Step & { kind: 'text' } {
  return { kind: 'text', text: JSON.stringify(message) };
}

/** A frame (RFC 6455, section 5.2) with random bits. */
function createFrame(choices: Choices): Buffer {
  const length = choices.oneOf([0, 1, 4, 125, 126, 127]);
  const head = [choices.below(256), (choices.chance(70) ? 0x80 : 0) | length];
  return Buffer.from([...head, ...Array.from({ length: choices.below(20) }, () => choices.below(256))]);
}

interface Received {
  type?: string;
  id?: string;
  payload?: { errors?: unknown; marker?: string; live?: Record<string, string> };
}

export async function runSocketCase({ postroom }: Target, tally: Tally, one: SocketCase): Promise<void> {
  const webSocket = new WebSocket(postroom.webSocketUrl, 'graphql-transport-ws');
  const closed = new Promise<number>((resolve) => webSocket.once('close', resolve));
  webSocket.on('error', () => {});
  const acknowledged = Promise.withResolvers<'acknowledged'>();
  const answered = Promise.withResolvers<'answered'>();
  const awaited = awaitedIds(one);
  webSocket.on('message', (data: RawData) => {
    const message: Received = JSON.parse(String(data));
    tally.count(`message ${message.type}`);
    if (message.type === 'connection_ack') acknowledged.resolve('acknowledged');
    const errors = message.type === 'error' ? message.payload : message.payload?.errors;
    recordErrors(tally, errors, describe(one), one.validIds.has(message.id ?? ''));
    awaited.delete(message.payload?.marker ?? message.id ?? '');
    for (const id of Object.keys(message.payload?.live ?? {})) awaited.delete(id);
    if (awaited.size === 0) answered.resolve('answered');
  });
  if ((await within(timeoutMs, once(webSocket, 'open'))) === 'late') return tally.fault('no upgrade', describe(one));
  if (one.init) webSocket.send(JSON.stringify(one.init));
  if (one.init && !one.isHasty) await within(timeoutMs, Promise.race([acknowledged.promise, closed]));
  sendSteps(webSocket, one);
  const outcome = await within(timeoutMs, Promise.race([answered.promise, closed]));
  // A frame may announce more bytes than were sent. The server is right to wait for them.
  if (outcome === 'late' && hasFrames(one)) tally.count('waits for the rest of a frame');
  else if (outcome === 'late') tally.fault(`no answer for ${[...awaited]}`, describe(one));
  else if (outcome !== 'answered') recordClose(tally, outcome, one);
  webSocket.terminate();
}

/** The ids that must be answered before the case ends: all valid operations that were not cancelled. */
function awaitedIds({ steps, validIds }: SocketCase): Set<string> {
  const completedIds = steps.flatMap((step) => (step.kind === 'text' && step.completes ? [step.completes] : []));
  const awaited = new Set([...validIds, endMarker]);
  for (const id of completedIds) awaited.delete(id);
  return awaited;
}

function sendSteps(webSocket: WebSocket, { steps }: SocketCase): void {
  for (const step of steps) {
    if (step.kind === 'text') webSocket.send(step.text);
    else if (step.kind === 'binary') webSocket.send(step.bytes);
    else (webSocket as unknown as { _socket: Socket })._socket.write(step.bytes);
  }
  webSocket.send(JSON.stringify({ type: 'ping', payload: { marker: endMarker } }));
}

function recordClose(tally: Tally, code: number, one: SocketCase): void {
  tally.count(`close ${code}`);
  const isOurs = code === 4500 || code === 1011 || code === 1012 || code === 1013;
  if (isOurs || (code === 1006 && !hasFrames(one))) tally.fault(`close ${code}`, describe(one));
}

function hasFrames({ steps }: SocketCase): boolean {
  return steps.some(({ kind }) => kind === 'frame');
}

function describe({ init, steps }: SocketCase): object {
  return {
    init,
    steps: steps.map((step) => (step.kind === 'text' ? step.text : `${step.kind} ${step.bytes.toString('hex')}`)),
  };
}
