import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { createResume } from '@postroom/client';
import { type Client, createClient } from 'graphql-ws';
import { type Caller, callers, type ExtensionTest, type MutationTest, type Round } from './test.ts';

interface Person {
  id: string;
  token: string | undefined;
}

/** As many ids as the statements of a test seldom have. */
const markSize = 17;
const mark = Array.from({ length: markSize }, (_, n) => `u${n}: user(id: "u${String(n).padStart(26, '0')}") { id }`);

/** A server in a process of its own, with the people of a test and their rooms. */
export class Scene {
  readonly test: ExtensionTest;
  readonly people = { nobody: { id: '', token: undefined } } as Record<Caller, Person>;
  readonly #run: (...args: string[]) => ChildProcess;
  readonly #process: ChildProcess;
  readonly #clients: Client[] = [];
  #url = '';
  #rooms = 0;
  #statements = 0;
  #onMark = () => {};
  /** The latest error in the log of the server. */
  #fault = '';

  constructor(test: ExtensionTest, settings: Record<string, string>) {
    this.test = test;
    const own = {
      EXTENSIONS: test.extension,
      PORT: '0',
      LOG_LEVEL: 'debug',
      RATE_LIMIT: '0',
      SIGN_IN_ATTEMPTS: '10000',
    };
    const env = { ...process.env, ...own, ...settings };
    const find = createRequire(resolve('package.json'));
    const program = test.program ?? join(find.resolve('@postroom/server/extension'), '../../bin/postroom.js');
    // The server ends with the channel, so with the process of the test.
    const stdio = ['ignore', 'ignore', 'pipe', 'ipc'] as const;
    this.#run = (...args) => spawn(process.execPath, [program, ...args], { env, stdio: [...stdio] });
    this.#process = this.#run('serve');
  }

  async start(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    let log = '';
    createInterface({ input: this.#process.stderr as NodeJS.ReadableStream }).on('line', (line) => {
      if (this.#url === '') log += `${line}\n`;
      const { msg, url, sql, err } = line.startsWith('{') ? JSON.parse(line) : {};
      if (err) this.#fault = err.message;
      if (msg === 'statement') this.#statements += 1;
      if (sql?.match(/\?|\$\d+/g)?.length === markSize) this.#onMark();
      if (msg === 'started') resolve(url);
    });
    this.#process.once('exit', (status) => reject(new Error(`The server ended with ${status}: ${log}`)));
    this.#url = await promise;
    for (const caller of callers) if (caller !== 'nobody') this.people[caller] = await this.signUp(caller);
    const [status] = await once(this.#run('grant-admin', this.people.admin.id), 'exit');
    if (status !== 0) throw new Error(`grant-admin ended with ${status}.`);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.dispose()));
    if (this.#process.exitCode === null && this.#process.kill()) await once(this.#process, 'exit');
  }

  async request(query: string, variables: object, { token }: Person) {
    const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
    const response = await fetch(this.#url, { method: 'POST', headers, body: JSON.stringify({ query, variables }) });
    // biome-ignore lint/suspicious/noExplicitAny: its shape is the document's.
    const { data, errors } = (await response.json()) as any;
    const { message, extensions } = errors?.[0] ?? {};
    return { data, message, code: extensions?.code as string | undefined };
  }

  /** The data of an operation that must succeed. */
  async ask(query: string, variables: object, person: Person) {
    const { data, code, message } = await this.request(query, variables, person);
    if (code === undefined) return data;
    const isFault = code === 'INTERNAL_SERVER_ERROR';
    if (isFault) await this.#mark();
    throw new Error(`${code}: ${isFault ? this.#fault : message}: ${query} with ${JSON.stringify(variables)}`);
  }

  /** A mutation of Postroom itself. */
  async change(person: Person, field: string, input: object, selection = 'room { id cursor }') {
    const type = `${field.charAt(0).toUpperCase()}${field.slice(1)}Input`;
    const query = `mutation ($input: ${type}!) { ${field}(input: $input) { ${selection} } }`;
    return (await this.ask(query, { input }, person))[field];
  }

  async signUp(name: string): Promise<Person> {
    const input = { name, email: `${name}@example.org`, password: 'correct horse' };
    const { user, accessToken } = await this.change(this.people.nobody, 'signUp', input, 'accessToken user { id }');
    return { id: user.id, token: accessToken };
  }

  async createRoom(visibility: 'PUBLIC' | 'PRIVATE'): Promise<{ id: string; cursor: string }> {
    const { owner, member, former } = this.people;
    this.#rooms += 1;
    const { room } = await this.change(owner, 'createRoom', { name: `Room ${this.#rooms}`, visibility });
    for (const { id } of [member, former]) await this.change(owner, 'addRoomMember', { room: room.id, user: id });
    await this.change(owner, 'removeRoomMember', { room: room.id, user: former.id });
    return room;
  }

  /** Sends the mutations of the test, or those before `end`. */
  async play({ id: room }: { id: string }, person = this.people.member, end?: MutationTest): Promise<Round> {
    const { post } = await this.change(this.people.owner, 'createPost', { room, title: 'A post' }, 'post { id }');
    const round: Round = { room, post: post.id, results: {} };
    for (const mutation of this.test.mutations) {
      if (mutation === end) break;
      Object.assign(round.results, await this.ask(mutation.document, mutation.variables(round), person));
    }
    return round;
  }

  /** A client whose subscriptions resume. It connects again at once, also after `terminate`. */
  connect({ token }: Person): Client {
    const resume = createResume();
    const own = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const connectionParams = () => ({ ...resume.connectionParams(), ...own });
    const retry = { retryAttempts: Number.POSITIVE_INFINITY, retryWait: async () => {} };
    const client = createClient({ url: this.#url.replace('http', 'ws'), ...retry, ...resume, connectionParams });
    this.#clients.push(client);
    return client;
  }

  /** The number of statements of the server during `work`: the lowest of some, because the server reads for itself, too. */
  async countStatements(work: () => Promise<unknown>): Promise<number> {
    const counts: number[] = [];
    while (counts.length < 4) {
      await this.#mark();
      this.#statements = 0;
      await work();
      await this.#mark();
      counts.push(this.#statements - 1);
    }
    return Math.min(...counts);
  }

  /** Waits until the log has all statements so far: it has them in their order. */
  async #mark(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onMark = resolve;
    await this.ask(`{ ${mark.join(' ')} }`, {}, this.people.nobody);
    await promise;
  }
}
