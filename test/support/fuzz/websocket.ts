import { once } from 'node:events';
import type { Socket } from 'node:net';
import { OperationTypeNode } from 'graphql';
import WebSocket, { type RawData } from 'ws';
import type { Choices } from '../clients/choices.ts';
import { generateRequest } from '../clients/documents.ts';
import { type Case, type Outcome, type Step, within } from './case.ts';
import { distort, type FaultsOf, faultyOf } from './faults.ts';
import { print } from './json.ts';
import type { Shape } from './shapes.ts';
import type { FuzzData, Target } from './target.ts';
import { hostileDocument, mutate, oddBytes, oddValue } from './texts.ts';

const endMarker = 'end';
const maxSteps = 40;

/** Each fault of each message, before and after `connection_init`. */
export function* socketCases(data: FuzzData, shapes: readonly Shape[], faultsOf: FaultsOf): Generator<Case> {
  for (const shape of shapes) {
    for (const json of faultyOf(shape, faultsOf)) yield* beforeAndAfterInit(data, shape.name, [text(print(json))]);
  }
}

/** Each message, and each pair of messages. */
export function* socketPairs(data: FuzzData, shapes: readonly Shape[]): Generator<Case> {
  for (const { name, valid, isValid } of shapes) {
    const first = text(print(valid));
    const validId = isValid && name.includes('subscribe') ? 'op' : undefined;
    yield { transport: 'websocket', name, steps: [initOf(data, 0), { ...first, validId }] };
    for (const second of shapes) yield* beforeAndAfterInit(data, name, [first, text(print(second.valid))]);
  }
}

function beforeAndAfterInit(data: FuzzData, name: string, steps: readonly Step[]): Case[] {
  return [steps, [initOf(data, 0), ...steps]].map((all) => ({ transport: 'websocket', name, steps: all }));
}

function initOf({ people }: FuzzData, index: number | undefined): Step {
  const person = index === undefined ? undefined : people[index];
  const payload = person ? { authorization: `Bearer ${person.token}` } : {};
  return { kind: 'init', text: JSON.stringify({ type: 'connection_init', payload }) };
}

/** Up to 40 random messages. A well-behaved client never requires the server to close the socket. */
export function randomSocketCase(data: FuzzData, shapes: readonly Shape[], choices: Choices): Case {
  const init = initOf(data, choices.chance(60) ? choices.below(data.people.length) : undefined);
  const isUnanswered = choices.chance(5);
  const isHasty = choices.chance(5);
  const isWellBehaved = !choices.chance(30);
  const isDistorted = choices.chance(20);
  const steps = Array.from({ length: 1 + choices.below(maxSteps) }, (_, index): Step => {
    const shape = isDistorted ? choices.oneOf(shapes) : undefined;
    return shape ? text(print(distort(shape, choices))) : createStep(data, choices, index, isWellBehaved);
  });
  const first: Step[] = isUnanswered ? [] : [isHasty ? { ...init, kind: 'text' } : init];
  return { transport: 'websocket', name: 'websocket random', steps: [...first, ...steps] };
}

function createStep(data: FuzzData, choices: Choices, index: number, isWellBehaved: boolean): Step {
  const kind = choices.below(isWellBehaved ? 80 : 100);
  const id = `op${index}`;
  if (kind < 60) return subscribe(data, choices, id, kind);
  if (kind < 66) return message({ type: 'complete', id: `op${choices.below(index + 2)}` });
  if (kind < 72) return message({ type: choices.oneOf(['ping', 'pong']), ...(choices.chance(50) && { payload: {} }) });
  if (kind < 80) {
    const payload = { query: mutate(hostileDocument(choices), choices), variables: {} };
    return message({ type: 'subscribe', id, payload });
  }
  const types = [
    ...(['subscribe', 'complete', 'ping', 'connection_init'] as const),
    ...['next', 'connection_ack', 'error', 'toString'],
  ] as const;
  if (kind < 88) return message({ type: choices.oneOf(types), id: oddValue(choices), payload: oddValue(choices) });
  if (kind < 92) return text(mutate(JSON.stringify({ type: 'subscribe', id, payload: {} }), choices));
  if (kind < 95) return text(JSON.stringify(oddValue(choices)) ?? '');
  const bytes = kind < 97 ? oddBytes(JSON.stringify({ type: 'ping' }), choices) : createFrame(choices);
  return { kind: kind < 97 ? 'binary' : 'frame', text: bytes.toString('latin1') };
}

function subscribe({ schema, documents }: FuzzData, choices: Choices, id: string, kind: number): Step {
  const kinds = [OperationTypeNode.SUBSCRIPTION] as const;
  const made = generateRequest(schema, choices, kind >= 30 && kind < 40 ? { ...documents, kinds } : documents);
  const { query, variables, operationName } = made;
  if (kind < 40)
    return { ...message({ type: 'subscribe', id, payload: { query, variables, operationName } }), validId: id };
  if (kind < 52) return message({ type: 'subscribe', id, payload: { query: mutate(query, choices), variables } });
  const name = choices.oneOf(['query', 'variables', 'operationName', 'extensions'] as const);
  return message({ type: 'subscribe', id, payload: { query, variables, [name]: oddValue(choices) } });
}

const text = (content: string): Step => ({ kind: 'text', text: content });
const message = (content: object): Step => text(JSON.stringify(content));

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

export async function runSocketCase(
  target: Target,
  { steps }: Case,
  outcome: Outcome,
  timeoutMs: number,
): Promise<void> {
  const webSocket = new WebSocket(target.postroom.webSocketUrl, 'graphql-transport-ws');
  const closed = new Promise<number>((resolve) => webSocket.once('close', resolve));
  webSocket.on('error', () => {});
  const acknowledged = Promise.withResolvers<'acknowledged'>();
  const answered = Promise.withResolvers<'answered'>();
  const validIds = new Set(steps.flatMap(({ validId }) => validId ?? []));
  const awaited = awaitedIds(steps);
  webSocket.on('message', (data: RawData) => {
    const { type, id = '', payload }: Received = JSON.parse(String(data));
    outcome.count(`message ${type}`);
    if (type === 'connection_ack') acknowledged.resolve('acknowledged');
    outcome.recordErrors(type === 'error' ? payload : payload?.errors, validIds.has(id));
    awaited.delete(payload?.marker ?? id);
    for (const live of Object.keys(payload?.live ?? {})) awaited.delete(live);
    if (awaited.size === 0) answered.resolve('answered');
  });
  const ends = [closed, target.ended] as const;
  const opened = await within(timeoutMs, Promise.race([once(webSocket, 'open').catch(() => 'refused'), ...ends]));
  if (!Array.isArray(opened)) return outcome.fault('no upgrade');
  for (const step of steps) {
    send(webSocket, step);
    if (step.kind === 'init') await within(timeoutMs, Promise.race([acknowledged.promise, ...ends]));
  }
  send(webSocket, message({ type: 'ping', payload: { marker: endMarker } }));
  const end = await within(timeoutMs, Promise.race([answered.promise, ...ends]));
  webSocket.terminate();
  const hasFrames = steps.some(({ kind }) => kind === 'frame');
  // A frame may announce more bytes than were sent. The server is right to wait for them.
  if (end === 'late' && hasFrames) outcome.count('waits for the rest of a frame');
  else if (end === 'late') outcome.fault('no answer');
  else if (typeof end === 'number') recordClose(end, outcome, hasFrames);
}

/** The ids that must be answered before the case ends: all valid operations that were not cancelled. */
function awaitedIds(steps: readonly Step[]): Set<string> {
  const awaited = new Set([...steps.flatMap(({ validId }) => validId ?? []), endMarker]);
  for (const { text } of steps) awaited.delete(/^\{"type":"complete","id":"(\w+)"/.exec(text)?.[1] ?? '');
  return awaited;
}

function send(webSocket: WebSocket, { kind, text }: Step): void {
  const bytes = Buffer.from(text, 'latin1');
  if (kind === 'frame') (webSocket as unknown as { _socket: Socket | null })._socket?.write(bytes);
  else webSocket.send(kind === 'binary' ? bytes : text, () => {});
}

function recordClose(code: number, outcome: Outcome, hasFrames: boolean): void {
  outcome.count(`close ${code}`);
  if ([4500, 1011, 1012, 1013].includes(code) || (code === 1006 && !hasFrames)) outcome.fault(`close ${code}`);
}
