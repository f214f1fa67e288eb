import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished } from 'vitest';
import { startedLine } from '../../../scripts/started-line.ts';
import { readConfig } from '../../../src/config/config.ts';
import { openDatabase } from '../../../src/data/database/open-database.ts';
import { findAccountByEmail, setRole } from '../../../src/data/domain/users.ts';
import { loadSchema } from '../../../src/engine/schema.ts';
import { createLog } from '../../../src/log/log.ts';
import { type PartOverrides, type RunningServer, startServer } from '../../../src/server.ts';
import { dropDatabase, withTestDatabase } from '../database/test-database.ts';
import { compileCacheFolder, useBundles } from '../run/bundled-packages.ts';
import { fastHash } from '../run/fast-hash.ts';

const source = new URL('../../../src/main.ts', import.meta.url).pathname;
/** The program: its bundle, in a run of tests. */
export const main = process.env['POSTROOM_TEST_PROGRAM'] ?? source;
export const mainProgram = [main, 'serve'];
export const unbundledProgram = [source, 'serve'];

/** The environment of the processes that tests start, apart from settings. The cache only saves time. */
export const programEnvironment = {
  PATH: process.env['PATH'],
  TMPDIR: process.env['TMPDIR'],
  NODE_COMPILE_CACHE: compileCacheFolder,
  // The bundles only save time.
  NODE_OPTIONS: existsSync(useBundles) ? `--import=${useBundles}` : '',
};

export interface ReplyError {
  message: string;
  path?: (string | number)[];
  extensions: {
    code: string;
    requestId?: string;
    details?: { field: string; issue: string }[];
    live?: { cursor: string; room?: string; cursors: Record<string, string> };
  };
}

export interface Reply {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: its shape is the query's.
  data: any;
  errors: ReplyError[] | undefined;
  /** The first error's code. */
  code: string | undefined;
}

export interface Person {
  id: string;
  token: string;
  email: string;
  password: string;
}

export type Settings = Record<string, string>;

/** Creates a folder that is removed after the test. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'postroom-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export type LogLine = Record<string, unknown>;

/** A running server on its own port, in this process or in another. */
export abstract class Postroom {
  readonly url: string;
  /** The lines logged so far, parsed. */
  readonly log: LogLine[];

  constructor(url: string, log: LogLine[]) {
    this.url = url;
    this.log = log;
  }

  /** Stops the server gracefully. Resolves with its exit status. */
  abstract stop(): Promise<number | null>;

  get graphqlUrl(): string {
    return `${this.url}/graphql`;
  }

  get webSocketUrl(): string {
    return this.graphqlUrl.replace('http', 'ws');
  }

  /** Sends POST /graphql. */
  async send(query: string, variables: Record<string, unknown> = {}, token?: string): Promise<Reply> {
    const response = await fetch(this.graphqlUrl, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/graphql-response+json',
        ...(token && { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({ query, variables }),
    });
    const { data, errors } = (await response.json()) as Pick<Reply, 'data' | 'errors'>;
    return { status: response.status, headers: response.headers, data, errors, code: errors?.[0]?.extensions.code };
  }

  /** Returns the data of an operation that must succeed. */
  // biome-ignore lint/suspicious/noExplicitAny: its shape is the query's.
  async ask(query: string, variables: Record<string, unknown> = {}, token?: string): Promise<any> {
    const { data, errors } = await this.send(query, variables, token);
    if (errors) throw new Error(`${query} failed: ${JSON.stringify(errors)}`);
    return data;
  }

  async signUp(name: string): Promise<Person> {
    people += 1;
    const person = { email: `person${people}@example.org`, password: 'correct horse' };
    const { signUp } = await this.ask(
      'mutation ($input: SignUpInput!) { signUp(input: $input) { accessToken user { id } } }',
      { input: { name, ...person } },
    );
    return { id: signUp.user.id, token: signUp.accessToken, ...person };
  }

  /** Signs up many people, in few requests. */
  async signUpAll(names: readonly string[]): Promise<Person[]> {
    const signedUp: Person[] = [];
    for (let from = 0; from < names.length; from += signUpsPerRequest) {
      const inputs = names.slice(from, from + signUpsPerRequest).map((name) => {
        people += 1;
        return { name, email: `person${people}@example.org`, password: 'correct horse' };
      });
      const fields = inputs.map((_, n) => `s${n}: signUp(input: $i${n}) { accessToken user { id } }`);
      const answers = await this.ask(
        `mutation (${inputs.map((_, n) => `$i${n}: SignUpInput!`).join(' ')}) { ${fields.join(' ')} }`,
        Object.fromEntries(inputs.map((input, n) => [`i${n}`, input])),
      );
      for (const [n, { email, password }] of inputs.entries()) {
        const { accessToken: token, user } = answers[`s${n}`];
        signedUp.push({ id: user.id, token, email, password });
      }
    }
    return signedUp;
  }

  async createRoom(owner: Person, name: string): Promise<string> {
    const { createRoom } = await this.ask(
      'mutation ($name: String!) { createRoom(input: { name: $name }) { room { id } } }',
      { name },
      owner.token,
    );
    return createRoom.room.id;
  }

  /** The position of the room's latest event. */
  async cursorOf(room: string, token?: string): Promise<string> {
    return (await this.ask('query ($room: ID!) { room(id: $room) { cursor } }', { room }, token)).room.cursor;
  }

  async createPost(author: Person, room: string, title: string, body?: string): Promise<string> {
    const { createPost } = await this.ask(
      'mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id } } }',
      { input: { room, title, body } },
      author.token,
    );
    return createPost.post.id;
  }
}

/** A server in the process of the tests; it starts in a few milliseconds. */
export class PostroomInProcess extends Postroom {
  readonly #server: RunningServer;
  readonly #afterStop: () => Promise<void>;
  #stopping: Promise<void> | undefined;

  constructor(server: RunningServer, log: LogLine[], afterStop = async () => {}) {
    super(server.url, log);
    this.#server = server;
    this.#afterStop = afterStop;
  }

  async stop(): Promise<number> {
    this.#stopping ??= this.#server.close().then(this.#afterStop);
    await this.#stopping;
    return 0;
  }
}

/** The real program in a separate process. */
export class PostroomProcess extends Postroom {
  readonly process: ChildProcessWithoutNullStreams;

  constructor(url: string, process: ChildProcessWithoutNullStreams, log: LogLine[]) {
    super(url, log);
    this.process = process;
  }

  async stop(): Promise<number | null> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return this.process.exitCode;
    this.process.kill('SIGTERM');
    await once(this.process, 'exit');
    return this.process.exitCode;
  }

  async kill(): Promise<void> {
    this.process.kill('SIGKILL');
    await once(this.process, 'exit');
  }
}

let people = 0;
const signUpsPerRequest = 25;

const defaults: Settings = {
  PORT: '0',
  DATABASE_URL: 'sqlite::memory:',
  LOG_LEVEL: 'warn',
  // On a busy machine any operation may be slow.
  SLOW_OPERATION_MS: '0',
  OPERATION_TIMEOUT_MS: '50000',
  RATE_LIMIT: '0',
  LIMIT_SOCKETS: '20000',
  SIGN_IN_ATTEMPTS: '10000',
};

const schema = loadSchema();

/** Starts a server inside this process; the caller stops it. */
export async function startInProcess(
  settings: Settings = {},
  overrides: PartOverrides = {},
): Promise<PostroomInProcess> {
  const given = { ...defaults, ...settings };
  const config = readConfig(await withTestDatabase(given));
  const lines: LogLine[] = [];
  const log = createLog(config.logLevel, undefined, { write: (line) => void lines.push(JSON.parse(line)), dropped: 0 });
  const server = await startServer(config, log, {
    passwordCost: fastHash,
    schema,
    ...overrides,
  });
  const isTemporary = given['DATABASE_URL'] === defaults['DATABASE_URL'];
  return new PostroomInProcess(server, lines, isTemporary ? () => dropDatabase(config.databaseUrl) : undefined);
}

/** Starts a server inside this process for one test, and stops it afterwards. */
export async function launchForTest(settings: Settings = {}, overrides: PartOverrides = {}): Promise<Postroom> {
  const postroom = await startInProcess(settings, overrides);
  onTestFinished(async () => void (await postroom.stop()));
  return postroom;
}

/** Makes the account an admin, as the command `grant-admin` does. */
export async function grantAdmin(settings: Settings, { email }: Pick<Person, 'email'>): Promise<void> {
  const { DATABASE_URL = '' } = await withTestDatabase(settings);
  const database = await openDatabase(DATABASE_URL);
  const user = await database.transaction(async (db) => {
    const account = await findAccountByEmail(db, email);
    return account && setRole(db, account.id, 'ADMIN');
  });
  await database.close();
  if (!user) throw new Error(`There is no account of ${email}.`);
}

/** The numbers of the levels that leave out the line with which a server says that it has started. */
const quietLevels: Record<string, number> = { warn: 40, error: 50, fatal: 60, silent: 70 };

/**
 * Starts the program; the caller stops it. A line of `stderr` that is not JSON is logged as `{ msg }`. The log has the
 * lines of the LOG_LEVEL in `settings`, although the program writes more.
 */
export async function launch(
  settings: Settings = {},
  program = mainProgram,
  command = process.execPath,
): Promise<PostroomProcess> {
  const own = await withTestDatabase({ ...defaults, ...settings });
  const minLevel = quietLevels[own['LOG_LEVEL'] ?? ''] ?? 0;
  const level = minLevel > 0 ? { LOG_LEVEL: 'info' } : {};
  const child = spawn(command, program, { env: { ...programEnvironment, ...own, ...level } });
  const log: LogLine[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  createInterface(child.stderr).on('line', (line) => {
    const parsed = parseLogLine(line);
    if (Number(parsed['level'] ?? minLevel) >= minLevel) log.push(parsed);
    const [, url] = startedLine.exec(line) ?? [];
    if (url) resolve(url);
  });
  child.stdout.resume();
  child.once('exit', (status) => reject(new Error(`it ended with ${status}: ${JSON.stringify(log)}`)));
  return new PostroomProcess(await promise, child, log);
}

/** Starts the program in a separate process for one test, and stops it afterwards. */
export async function launchProcessForTest(
  settings: Settings = {},
  program?: string[],
  command?: string,
): Promise<PostroomProcess> {
  const postroom = await launch(settings, program, command);
  onTestFinished(async () => void (await postroom.stop()));
  return postroom;
}

export interface Finished {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a command and waits for its exit. */
export async function run(
  args: string[],
  settings: Settings = {},
  input?: string | Buffer,
  program = main,
): Promise<Finished> {
  const own = await withTestDatabase(settings);
  const child = spawn(process.execPath, [program, ...args], { env: { ...programEnvironment, ...own } });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    output.stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output.stderr += chunk;
  });
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const [status] = await once(child, 'close');
  return { status, ...output };
}

/** Runs a command that must fail with the status 1 and one line, which it returns. */
export async function runRefused(args: string[], settings?: Settings, input?: string): Promise<string> {
  const { status, stdout, stderr } = await run(args, settings, input);
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(/^[^\n]+\n$/);
  return stderr.trimEnd();
}

function parseLogLine(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line);
  } catch {
    return { msg: line };
  }
}
