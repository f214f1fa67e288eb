import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { writePosts, writeUsers } from '../support/database/rows.ts';
import { newSessionKey } from '../support/database/test-database.ts';
import {
  launchForTest,
  launchProcessForTest,
  main,
  mainProgram,
  programEnvironment,
  run,
  scratchFolder,
  startInProcess,
} from '../support/server/postroom.ts';

const root = new URL('../..', import.meta.url).pathname;
const sessionKey = newSessionKey();

/** The content of every file in the folder and its subfolders, in Base64. */
function snapshot(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files.map(({ parentPath, name }) => [
      join(parentPath, name),
      readFileSync(join(parentPath, name)).toString('base64'),
    ]),
  );
}

interface Refusal {
  file: string;
  settings?: Record<string, string>;
  says: RegExp;
}

/** Expects that the start fails with one line and status 1, and changes no file in the folder. */
async function expectRefused(folder: string, { file, settings = {}, says }: Refusal): Promise<void> {
  const before = snapshot(folder);
  const all = { PORT: '0', DATABASE_URL: `sqlite:${file}`, ...settings };
  const { status, stdout, stderr } = await run(['serve'], all);
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(/^postroom: [^\n]+\n$/);
  expect(stderr).toMatch(says);
  expect(snapshot(folder)).toEqual(before);
}

/**
 * Expects the same of a server in this process, which starts faster. Of its error the program prints the message: the
 * tests that start the program show this for both kinds.
 */
async function expectUnusable(
  folder: string,
  file: string,
  message: RegExp,
  name: 'DatabaseUnusable' | 'BadSetting' = 'DatabaseUnusable',
): Promise<void> {
  const before = snapshot(folder);
  const error = await startInProcess({ DATABASE_URL: `sqlite:${file}` }).then(
    () => undefined,
    (reason: Error) => reason,
  );
  expect(error).toMatchObject({ name, message: expect.stringMatching(/^[^\n]+$/) });
  expect(error?.message).toMatch(message);
  expect(snapshot(folder)).toEqual(before);
}

let full: string;
beforeAll(async () => {
  full = mkdtempSync(join(tmpdir(), 'postroom-test-'));
  const postroom = await startInProcess({
    DATABASE_URL: `sqlite:${join(full, 'postroom.db')}`,
    SESSION_KEY: sessionKey,
  });
  const room = await postroom.createRoom(await postroom.signUp('Ada'), 'lobby');
  const database = join(full, 'postroom.db');
  writePosts(database, { room, author: writeUsers(database, [1])[0] ?? '', times: Array(2_000).fill(1) });
  await postroom.stop();
});
afterAll(() => rmSync(full, { recursive: true, force: true }));

/** Copies a database that contains data, and whose server has stopped, into the folder. */
function makeDatabase(folder: string): string {
  cpSync(join(full, 'postroom.db'), join(folder, 'postroom.db'));
  return join(folder, 'postroom.db');
}

describe('the start is refused with one line, and nothing is changed, if', () => {
  it.each(['PORT', 'METRICS_PORT'])('%s is in use', async (setting) => {
    const taken = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void taken.close());
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const folder = scratchFolder();
    const file = join(folder, 'data', 'postroom.db');
    await expectRefused(folder, {
      file,
      settings: { PORT: '0', [setting]: String(port) },
      says: new RegExp(`: ${setting} must be a port that is not in use \\(got "${port}"\\)\\.`),
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('PORT and METRICS_PORT are equal', async () => {
    const free = createServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    const port = String((free.address() as AddressInfo).port);
    await once(free.close(), 'close');
    const folder = scratchFolder();
    await expectRefused(folder, {
      file: join(folder, 'data', 'postroom.db'),
      settings: { PORT: port, METRICS_PORT: port },
      says: /: METRICS_PORT must be a port that is not in use/,
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('the database is text', async () => {
    const folder = scratchFolder();
    const file = join(folder, 'postroom.db');
    writeFileSync(file, 'this is not a database, but a letter to the operator\n'.repeat(10));
    await expectRefused(folder, { file, says: /database .*postroom\.db: / });
  });

  it.each([
    ['a few bytes', 'SQL'],
    ['the head of a database and nothing behind', 'SQLite format 3\0'],
    ['the head of a database and then noise', `SQLite format 3\0${'noise '.repeat(5_000)}`],
  ])('the database is %s', async (_, content) => {
    const folder = scratchFolder();
    const file = join(folder, 'postroom.db');
    writeFileSync(file, content);
    await expectUnusable(folder, file, /postroom\.db: /);
  });

  it('the database was truncated', async () => {
    const folder = scratchFolder();
    const file = makeDatabase(folder);
    truncateSync(file, Math.floor(statSync(file).size / 2));
    await expectRefused(folder, { file, says: /database .*postroom\.db: .*malformed/ });
  });

  it('the schema table of the database is damaged', async () => {
    const folder = scratchFolder();
    const file = makeDatabase(folder);
    const bytes = readFileSync(file);
    bytes.fill(0xa5, 100, 1_000);
    writeFileSync(file, bytes);
    await expectRefused(folder, { file, says: /database .*postroom\.db: / });
  });

  it('the database was written by a newer program', async () => {
    const folder = scratchFolder();
    const file = makeDatabase(folder);
    const database = new DatabaseSync(file);
    database.exec('update migrations set seen = 999, needed = 999');
    database.close();
    await expectUnusable(folder, file, /newer Postroom.* 999/);
  });

  it('the database belongs to another program', async () => {
    const folder = scratchFolder();
    const file = join(folder, 'postroom.db');
    const database = new DatabaseSync(file);
    database.exec('pragma journal_mode = wal; create table users (name text)');
    database.close();
    await expectUnusable(folder, file, /postroom\.db: .*users already exists/);
  });

  it('the database is a folder', async () => {
    const folder = scratchFolder();
    await expectUnusable(folder, folder, /EISDIR/);
  });

  it('a part of the path is a file', async () => {
    const folder = scratchFolder();
    writeFileSync(join(folder, 'file'), 'kept');
    await expectUnusable(folder, join(folder, 'file', 'postroom.db'), /(ENOTDIR|EEXIST)/);
  });

  it.skipIf(!existsSync('/proc'))('the folder cannot be created', async () => {
    for (const file of ['/proc/new/postroom.db', '/proc/a/b/postroom.db', '/proc/postroom.db']) {
      const says = new RegExp(`: the database cannot be used: ${file}: [^\n]*ENOENT(?!.*disk is full)`);
      await expectRefused(scratchFolder(), { file, says });
    }
  });

  it('the folder cannot be written', async () => {
    const folder = scratchFolder();
    chmodSync(folder, 0o555);
    onTestFinished(() => chmodSync(folder, 0o755));
    for (const file of [join(folder, 'postroom.db'), join(folder, 'data', 'postroom.db')]) {
      const { status, stderr } = await runWithoutRights({ PORT: '0', DATABASE_URL: `sqlite:${file}` });
      expect(status).toBe(1);
      expect(stderr).toMatch(/^postroom: [^\n]*(EACCES|permission denied)[^\n]*\n$/);
      expect(readdirSync(folder)).toEqual([]);
    }
  });

  it('the database cannot be written', async () => {
    const folder = scratchFolder();
    const file = makeDatabase(folder);
    chmodSync(file, 0o444);
    const before = snapshot(folder);
    const { status, stderr } = await runWithoutRights({
      PORT: '0',
      DATABASE_URL: `sqlite:${file}`,
      SESSION_KEY: sessionKey,
    });
    expect(status).toBe(1);
    expect(stderr).toMatch(/^postroom: [^\n]*(EACCES|permission denied|readonly)[^\n]*\n$/);
    expect(snapshot(folder)).toEqual(before);
  });

  it('the stored session key is invalid', async () => {
    const folder = scratchFolder();
    const file = makeDatabase(folder);
    for (const content of ['not a key\n', '-']) {
      writeFileSync(join(folder, 'session-key.pem'), content);
      await expectUnusable(folder, file, /SESSION_KEY must be .* \(got ".*session-key\.pem"\)\.$/, 'BadSetting');
    }
  });
});

/** Runs the server without write permissions. Root may write every file, so root runs it as an unprivileged user. */
async function runWithoutRights(settings: Record<string, string>): Promise<{ status: number | null; stderr: string }> {
  const isRoot = process.getuid?.() === 0;
  const child: ChildProcess = spawn(process.execPath, mainProgram, {
    env: { ...programEnvironment, ...settings },
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(isRoot && { uid: 65_534, gid: 65_534 }),
  });
  let stderr = '';
  child.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  const [status] = await once(child, 'close');
  return { status, stderr };
}

it('the first start, which needs no command, creates the folder, the database and the session key, which only its owner may read, and logs its address, its database and its stop', async () => {
  const folder = join(scratchFolder(), 'made', 'by', 'it');
  const file = join(folder, 'postroom.db');
  const postroom = await launchProcessForTest({ DATABASE_URL: `sqlite:${file}`, LOG_LEVEL: 'info' }, [main]);
  const closed = once(postroom.process, 'close');
  postroom.process.kill('SIGTERM');
  expect(await closed).toEqual([0, null]);
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(postroom.log).toEqual([
    { level: 30, time, url: postroom.graphqlUrl, database: file, msg: 'started' },
    { level: 30, time, signal: 'SIGTERM', msg: 'stopping' },
    { level: 30, time, signal: 'SIGTERM', msg: 'stopped' },
  ]);
  expect(readdirSync(folder).sort()).toEqual(['postroom.db', 'session-key.pem']);
  expect(statSync(join(folder, 'session-key.pem')).mode & 0o777).toBe(0o600);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

it('a later start signs with the key of the first: a session survives a restart', async () => {
  const settings = { DATABASE_URL: `sqlite:${join(scratchFolder(), 'postroom.db')}` };
  const first = await launchForTest(settings);
  const ada = await first.signUp('Ada');
  await first.stop();
  const second = await launchForTest(settings);
  expect(await second.ask('{ viewer { id email } }', {}, ada.token)).toEqual({
    viewer: { id: ada.id, email: ada.email },
  });
});

it('an acknowledged write survives a kill', async () => {
  const settings = { DATABASE_URL: `sqlite:${join(scratchFolder(), 'postroom.db')}` };
  const first = await launchProcessForTest(settings);
  const ada = await first.signUp('Ada');
  const room = await first.createRoom(ada, 'lobby');
  const post = await first.createPost(ada, room, 'kept');
  await first.kill();
  const second = await launchForTest(settings);
  expect(await second.ask('query ($id: ID!) { post(id: $id) { title author { id } } }', { id: post })).toEqual({
    post: { title: 'kept', author: { id: ada.id } },
  });
});

it('the first SIGINT stops the server gracefully, with status 0, and a second signal changes nothing: running requests are finished', async () => {
  const postroom = await launchProcessForTest();
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  const body = JSON.stringify({ query: '{ __typename }' });
  const headers = { 'content-type': 'application/json', 'content-length': body.length, expect: '100-continue' };
  const asked = request(postroom.graphqlUrl, { method: 'POST', headers });
  await once(asked, 'continue');
  const ended = once(postroom.process, 'exit');
  postroom.process.kill('SIGINT');
  expect((await socket.closed).code).toBe(1012);
  postroom.process.kill('SIGINT');
  asked.end(body);
  const [response] = await once(asked, 'response');
  expect(response.statusCode).toBe(200);
  response.resume();
  expect(await ended).toEqual([0, null]);
  expect(postroom.log).toEqual([]);
});

it('a third SIGINT ends the process at once, although a request is running', async () => {
  const postroom = await launchProcessForTest();
  const headers = { 'content-type': 'application/json', 'content-length': 20, expect: '100-continue' };
  const asked = request(postroom.graphqlUrl, { method: 'POST', headers }).on('error', () => {});
  await once(asked, 'continue');
  // Signals that arrive at the same time count as one.
  const interrupt = () => {
    postroom.process.kill('SIGINT');
    return postroom.process.exitCode;
  };
  await expect.poll(interrupt).toBe(130);
});

it('the command of the package runs the sources in the repository', async () => {
  const program = join(root, 'bin/postroom.js');
  expect(await promisify(execFile)(process.execPath, [program, '--help'])).toMatchObject({
    stdout: expect.stringMatching(/^usage: postroom serve/),
    stderr: '',
  });
});

it('npm start: the server stops gracefully on Ctrl-C, which reaches it from the terminal and from npm', async () => {
  // The processes are in a new process group, as if a terminal had started npm.
  const npm = spawn('npm', ['start'], {
    cwd: root,
    // npm itself may run on an older Node, which cannot load TypeScript.
    env: { ...programEnvironment, NODE_OPTIONS: '', HOME: scratchFolder(), PORT: '0', DATABASE_URL: 'sqlite::memory:' },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  const group = -(npm.pid ?? 0);
  onTestFinished(() => {
    try {
      process.kill(group, 'SIGKILL');
    } catch {
      // All processes of the group have already exited.
    }
  });
  let url: string | undefined;
  for await (const line of createInterface(npm.stderr)) {
    url = /"url":"(http:\S+)\/graphql"/.exec(line)?.[1];
    if (url) break;
  }
  const socket = await ProtocolSocket.open(`${url?.replace('http', 'ws')}/graphql`);
  // The output closes only after all processes that inherited it have exited.
  const allEnded = once(npm, 'close');
  npm.stderr.resume();
  process.kill(group, 'SIGINT');
  expect((await socket.closed).code).toBe(1012);
  await allEnded;
  await expect(fetch(`${url}/health`)).rejects.toThrow();
});

it('the address and the first steps are written to a terminal, but not into a log that a collector reads', async () => {
  const settings = { PORT: '0', DATABASE_URL: 'sqlite::memory:', LOG_LEVEL: 'info' };
  const env = { ...programEnvironment, NODE_OPTIONS: '', ...settings };
  const command = [process.execPath, ...mainProgram];
  for (const isTerminal of [true, false]) {
    const [file = '', ...args] = isTerminal ? ['script', '-qec', command.join(' '), '/dev/null'] : command;
    const server = spawn(file, args, { env });
    onTestFinished(() => void server.kill());
    let [output, log] = ['', ''];
    server.stdout.on('data', (chunk) => (output += chunk));
    server.stderr.on('data', (chunk) => (log += chunk));
    await expect.poll(() => output + log).toContain('"msg":"started"');
    if (isTerminal) await expect.poll(() => output).toContain('Postroom is at http');
    const closed = once(server, 'close');
    server.kill();
    await closed;
    if (!isTerminal)
      expect({ output, lines: log.split('\n').filter((line) => !/^({.*})?$/.test(line)) }).toEqual({
        output: '',
        lines: [],
      });
  }
});

describe('the usage', () => {
  it.each([['--help'], ['key', 'create', '-h']])('is printed for %s %s', async (...args) => {
    const { status, stdout, stderr } = await run(args.filter((argument) => argument !== undefined));
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^usage: postroom serve /);
  });

  it('is printed for an unknown command, with status 1', async () => {
    const { status, stdout, stderr } = await run(['server']);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^postroom: there is no command "\w+"\nusage: postroom serve /);
  });

  it('is printed when serve is given arguments, and nothing is opened', async () => {
    const { status, stdout, stderr } = await run(['serve', '--port', '4711']);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^postroom: serve takes no --port: PORT, /);
  });
});
