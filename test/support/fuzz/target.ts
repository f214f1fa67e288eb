import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type GraphQLNamedInputType, type GraphQLSchema, OperationTypeNode } from 'graphql';
import { loadSchema } from '../../../src/engine/schema.ts';
import type { Choices } from '../clients/choices.ts';
import type { DocumentOptions } from '../clients/documents.ts';
import {
  type LogLine,
  type Person,
  type Postroom,
  PostroomProcess,
  type Settings,
  startInProcess,
} from '../server/postroom.ts';
import { within } from './case.ts';
import { Witness } from './witness.ts';

/** What requests may name. */
export interface FuzzData {
  schema: GraphQLSchema;
  people: readonly [Person, ...Person[]];
  documents: DocumentOptions;
  room: string;
  post: string;
  cursor: string;
}

export const allowedOrigin = 'https://app.example.org';

/** No rate limit, and a very high message limit, because the limits would refuse most of the requests. */
const settings = {
  RATE_LIMIT: '0',
  LIMIT_MESSAGES: '1000000',
  ALLOWED_ORIGINS: allowedOrigin,
  LOG_LEVEL: 'warn',
};

/** Mutations that are not sent: they delete the accounts of other cases, or cost a hundred times as much as any other. */
const excludedMutations = new Set(['deleteUser', 'signUp', 'signIn', 'changePassword']);

export async function createData(postroom: Postroom): Promise<FuzzData> {
  const people: [Person, ...Person[]] = [await postroom.signUp('Ada'), await postroom.signUp('Grace')];
  const [rooms, posts]: [string[], string[]] = [[], []];
  for (const [index, person] of people.entries()) {
    const room = await postroom.createRoom(person, `room ${index}`);
    rooms.push(room);
    for (let count = 0; count < 5; count += 1) posts.push(await postroom.createPost(person, room, `post ${count}`));
  }
  const [room = '', post = ''] = [rooms[0], posts[0]];
  const ids = [...rooms, ...people.map(({ id }) => id), ...posts, 'nothing'];
  const sample = (type: GraphQLNamedInputType, name: string, choices: Choices) => {
    if (type.name === 'ID') return choices.oneOf(ids);
    if (type.name === 'DateTime') return choices.oneOf(['2026-11-20T08:30:00.000Z', '1970-01-01T00:00:00+01:00']);
    if (name === 'name' && choices.chance(50)) return `name ${choices.below(5)}`;
    return undefined;
  };
  const kinds = [OperationTypeNode.QUERY, OperationTypeNode.QUERY, OperationTypeNode.MUTATION] as const;
  const documents: DocumentOptions = { kinds, sample, admits: ({ name }) => !excludedMutations.has(name) };
  return { schema: loadSchema(), people, documents, room, post, cursor: await postroom.cursorOf(room) };
}

export type Launch = (settings: Settings) => Promise<Postroom>;

/** A database with data. Every server of a run starts with a copy, so that a case can be repeated on a fresh server. */
export class Snapshot implements Disposable {
  readonly data: FuzzData;
  readonly #folder: string;
  readonly #launch: Launch;
  readonly #owner: Person;
  readonly #room: string;
  #copies = 0;

  private constructor(folder: string, launch: Launch, data: FuzzData, owner: Person, room: string) {
    this.#folder = folder;
    this.#launch = launch;
    this.data = data;
    this.#owner = owner;
    this.#room = room;
  }

  static async create(launch: Launch): Promise<Snapshot> {
    const folder = mkdtempSync(join(tmpdir(), 'postroom-fuzz-'));
    const postroom = await startInProcess({ ...settings, DATABASE_URL: urlOf(join(folder, 'original')) });
    const data = await createData(postroom);
    // No case names this person or this room.
    const owner = await postroom.signUp('Witness');
    const room = await postroom.createRoom(owner, 'witness');
    await postroom.stop();
    return new Snapshot(folder, launch, data, owner, room);
  }

  async open(): Promise<Target> {
    const postroom = await this.#launch({ ...settings, DATABASE_URL: this.copy() });
    return new Target(this, postroom, await Witness.open(postroom, this.#owner, this.#room));
  }

  /** The URL of a database with the same data. */
  copy(): string {
    this.#copies += 1;
    const copy = join(this.#folder, `copy${this.#copies}`);
    cpSync(join(this.#folder, 'original'), copy, { recursive: true });
    return urlOf(copy);
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

const urlOf = (folder: string) => `sqlite:${join(folder, 'postroom.db')}`;

/** A running server, and a client that must not notice the cases. */
export class Target {
  readonly snapshot: Snapshot;
  readonly postroom: Postroom;
  /** Resolves when the process has ended by itself. */
  readonly ended: Promise<'ended'>;
  readonly #witness: Witness;
  #hasEnded = false;
  #checkedLines = 0;

  constructor(snapshot: Snapshot, postroom: Postroom, witness: Witness) {
    this.snapshot = snapshot;
    this.postroom = postroom;
    this.#witness = witness;
    const closed = postroom instanceof PostroomProcess ? once(postroom.process, 'close') : new Promise(() => {});
    this.ended = closed.then(() => {
      this.#hasEnded = true;
      return 'ended';
    });
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The faults of the server as a whole since the last check. */
  async check(): Promise<string[]> {
    const witnessed = await Promise.race([this.#witness.check(), this.ended]);
    // Its connections close before its process has ended.
    if (witnessed !== undefined) await within(5_000, this.ended);
    const lines = this.postroom.log.slice(this.#checkedLines);
    this.#checkedLines += lines.length;
    const logged = describeLog(lines);
    if (this.#hasEnded) return [`the server ended: ${logged[0] ?? 'it logged nothing'}`];
    return [...(witnessed === undefined ? [] : [witnessed]), ...logged.map((line) => `the server logged: ${line}`)];
  }

  async stop(): Promise<string[]> {
    this.#witness.close();
    if (this.#hasEnded) return [];
    const status = await this.postroom.stop();
    return status === 0 ? [] : [`the server stopped with status ${status}`];
  }

  get residentBytes(): number {
    if (!(this.postroom instanceof PostroomProcess)) return process.memoryUsage.rss();
    const path = `/proc/${this.postroom.process.pid}/status`;
    const status = existsSync(path) ? readFileSync(path, 'utf8') : '';
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
  }
}

/** The lines that no input may cause. A refused origin is reported, and the input contains such origins. */
function describeLog(lines: readonly LogLine[]): string[] {
  const faults = lines.filter(({ level, origin }) => level !== 40 || origin === undefined);
  const texts = faults.map(({ msg, err }) => [msg, (err as Error | undefined)?.message].filter(Boolean).join(': '));
  // Node prints the source, the error and its stack in many lines.
  const thrown = texts.filter((text) => /^\w*Error\b/.test(text));
  return [...new Set(thrown.length > 0 ? thrown : texts)];
}
