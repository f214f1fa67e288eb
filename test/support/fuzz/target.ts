import { readFileSync } from 'node:fs';
import { type GraphQLNamedInputType, type GraphQLSchema, OperationTypeNode } from 'graphql';
import { loadSchema } from '../../../src/engine/schema.ts';
import type { Choices } from '../clients/choices.ts';
import type { DocumentOptions } from '../clients/documents.ts';
import type { Person, Postroom, PostroomProcess } from '../server/postroom.ts';

/** A running server that contains data. */
export interface Target {
  postroom: Postroom;
  schema: GraphQLSchema;
  people: readonly [Person, ...Person[]];
  documents: DocumentOptions;
}

/** No rate limit, and a very high message limit, because the limits would refuse most of the requests. */
export const fuzzSettings = { RATE_LIMIT: '0', LIMIT_MESSAGES: '1000000', LOG_LEVEL: 'warn' };

/** The lines of the log that no input may cause. A refused origin is reported, and the input contains such origins. */
export function faultLinesOf({ log }: Pick<Postroom, 'log'>): Postroom['log'] {
  return log.filter(({ level, origin }) => level !== 40 || origin === undefined);
}

/** Mutations that are not sent: they delete the accounts of other cases, or cost a hundred times as much as any other. */
const excludedMutations = new Set(['deleteUser', 'signUp', 'signIn', 'changePassword']);

export async function createTarget(postroom: Postroom): Promise<Target> {
  const people: [Person, ...Person[]] = [await postroom.signUp('Ada'), await postroom.signUp('Grace')];
  const ids: string[] = [];
  for (const [index, person] of people.entries()) {
    const room = await postroom.createRoom(person, `room ${index}`);
    ids.push(room, person.id);
    for (let count = 0; count < 5; count += 1) ids.push(await postroom.createPost(person, room, `post ${count}`));
  }
  ids.push('nothing');
  const sample = (type: GraphQLNamedInputType, name: string, choices: Choices) => {
    if (type.name === 'ID') return choices.oneOf(ids);
    if (type.name === 'DateTime') return choices.oneOf(['2026-11-20T08:30:00.000Z', '1970-01-01T00:00:00+01:00']);
    if (name === 'name' && choices.chance(50)) return `name ${choices.below(5)}`;
    return undefined;
  };
  const kinds = [OperationTypeNode.QUERY, OperationTypeNode.QUERY, OperationTypeNode.MUTATION] as const;
  const documents: DocumentOptions = { kinds, sample, admits: ({ name }) => !excludedMutations.has(name) };
  return { postroom, schema: loadSchema(), people, documents };
}

/** The resident memory of the server's process, in bytes. */
export function residentBytes({ process }: PostroomProcess): number {
  const status = readFileSync(`/proc/${process.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
}

/** Counts the observed outcomes and records the faults. */
export class Tally {
  readonly counts = new Map<string, number>();
  readonly faults: string[] = [];
  faultCount = 0;

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  fault(what: string, given: unknown): void {
    this.faultCount += 1;
    this.count(`FAULT ${what}`);
    if (this.faults.length < 20) this.faults.push(`${what}: ${JSON.stringify(given)?.slice(0, 4_000)}`);
  }
}

/** Error codes that no input may cause. */
const ourFaults = new Set(['INTERNAL_SERVER_ERROR', 'SERVICE_UNAVAILABLE', 'BAD_GATEWAY']);
/** Error codes that a request which is valid by construction must not receive. */
const notOfValid = new Set([
  'BAD_REQUEST',
  'INVALID_REQUEST',
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'OPERATION_NOT_FOUND',
  'VARIABLES_INVALID',
]);

/** Records the error codes of a response. */
export function recordErrors(tally: Tally, errors: unknown, given: unknown, isValid: boolean): void {
  if (!Array.isArray(errors)) return;
  for (const { extensions } of errors) {
    const code = String(extensions?.code);
    if (ourFaults.has(code)) tally.fault(code, given);
    else if (isValid && notOfValid.has(code)) tally.fault(`a valid operation got ${code}`, given);
    else tally.count(code);
  }
}

/** Calls `work` for every item, with `atATime` calls in parallel. */
export async function eachOf<T>(items: Iterable<T>, work: (item: T) => Promise<void>, atATime = 16): Promise<void> {
  const iterator = items[Symbol.iterator]();
  const worker = async () => {
    for (let next = iterator.next(); !next.done; next = iterator.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: atATime }, worker));
}

/** Resolves with the result of `promise`, or with `late` after `ms` milliseconds. */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T | 'late'> {
  const late = Promise.withResolvers<'late'>();
  const timer = setTimeout(late.resolve, ms, 'late');
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
