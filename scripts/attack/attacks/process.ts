import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Attack } from '../attack.ts';
import type { Caller } from '../caller.ts';
import { createRoom, post, signUp, titles, titlesOf } from '../people.ts';
import { sleep, until } from '../waiting.ts';

const fewDescriptors: Attack = {
  name: 'few-descriptors',
  promise:
    'Without free file descriptors, queries that select a cursor still work and dropped connections are counted.',
  async run(arena, findings) {
    const server = await arena.start({ startedBy: ['prlimit', '--nofile=128:128'] });
    const caller = arena.caller(server, '127.0.0.9', 1);
    const room = await createRoom(caller, await signUp(caller));
    const connections: Socket[] = [];
    for (let index = 0; index < 300; index += 1)
      connections.push(connect(server.port, '127.0.0.1').on('error', () => {}));
    arena.onEnd(() => {
      for (const connection of connections) connection.destroy();
    });
    await sleep(1_500);
    const outcomes = new Map<string, number>();
    for (let index = 0; index < 20; index += 1) {
      const reply = await caller.send('query ($room: ID!) { room(id: $room) { cursor posts { nodes { id } } } }', {
        room,
      });
      const outcome = reply.code ?? String(reply.status);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
    const seen = [...outcomes].map(([outcome, count]) => `${count} × ${outcome}`).join(', ');
    findings.expect(outcomes.get('200') === 20, `queries: ${seen}`);
    for (const connection of connections) connection.destroy();
    await until(5_000, async () => (await caller.statusOf('/health')) === 200);
    const { text } = await caller.get('/metrics');
    const counted =
      /^postroom_\S*(?:drop|refus|reject|turned)\S* [1-9]/m.exec(text)?.[0] ??
      /^\S*(?:drop|refus|reject)\S* [1-9]\S*$/m.exec(text)?.[0];
    findings.expect(counted !== undefined, 'no metric counts the connections that were dropped');
    findings.expect(
      server.log.some((line) => /descriptor|connection|EMFILE/i.test(line)),
      'the log does not report dropped connections',
    );
    findings.note(`queries: ${seen}; ${counted}`);
  },
};

const hangUp: Attack = {
  name: 'hang-up',
  promise: 'SIGHUP stops the server as SIGTERM does: sockets are closed with code 1012, and the exit status is 0.',
  async run(arena, findings) {
    const server = await arena.start();
    const caller = arena.caller(server);
    const ada = await signUp(caller);
    const room = await createRoom(caller, ada);
    const socket = await arena.socket(server);
    await socket.follow('s', titlesOf(room));
    const status = await server.stop('SIGHUP');
    await until(1_000, () => socket.closeCode !== undefined);
    findings.expect(status === 0, `the exit status was ${status}`);
    findings.expect(socket.closeCode === 1012, `the socket was closed with ${socket.closeCode}`);
  },
};

async function readLag(caller: Caller): Promise<number> {
  const { text } = await caller.get('/metrics');
  return Number(/^\S*eventloop_lag_p99_seconds (\S+)$/m.exec(text)?.[1] ?? Number.NaN);
}

const readMetrics: Attack = {
  name: 'metrics-read-twice',
  promise: 'A request for /metrics does not hide the event loop lag from another client.',
  async run(arena, findings) {
    const server = await arena.start();
    const caller = arena.caller(server);
    for (let pause = 0; pause < 8; pause += 1) {
      server.process.kill('SIGSTOP');
      await sleep(150);
      server.process.kill('SIGCONT');
      await sleep(50);
    }
    const first = await readLag(caller);
    const second = await readLag(caller);
    findings.note(`${first.toFixed(3)} s, then ${second.toFixed(3)} s`);
    findings.expect(first > 0.05, `the lag is not reported: ${first.toFixed(3)} s`);
    findings.expect(
      second >= first / 2,
      `${first.toFixed(3)} s in the first request, ${second.toFixed(3)} s in the second`,
    );
  },
};

const erasure: Attack = {
  name: 'erased-while-read',
  promise:
    'An erased name is removed from the database and its write-ahead log after the last reader of the old data ends.',
  async run(arena, findings) {
    const server = await arena.start();
    const caller = arena.caller(server);
    const name = 'Zebedee Quillfeather';
    const [person, other] = [await signUp(caller, name), await signUp(caller, 'Bob')];
    const room = await createRoom(caller, other);
    await post(caller, person, room, titles('A', 1, 3));
    const reader = new DatabaseSync(server.databaseFile, { readOnly: true });
    arena.onEnd(() => {
      if (reader.isOpen) reader.close();
    });
    reader.exec('begin');
    reader.prepare('select count(*) from "users"').get();
    const erase = `mutation { deleteUser(input: { id: "${person.id}", deletePosts: true }) { user { id } } }`;
    await caller.ask(erase, {}, person.token);
    const isThere = () =>
      ['', '-wal', '-shm'].some((suffix) => {
        const file = server.databaseFile + suffix;
        return existsSync(file) && readFileSync(file).includes(name);
      });
    findings.expect(isThere(), 'the name was removed during the read, so the attack tests nothing');
    await sleep(500);
    reader.exec('commit');
    reader.close();
    const isGone = await until(8_000, () => !isThere());
    findings.expect(isGone, 'the name is still in the files after eight seconds');
  },
};

const emptyKey: Attack = {
  name: 'empty-session-key',
  promise: 'An empty session-key.pem, which a crash can leave, is replaced at the next start.',
  async run(arena, findings) {
    const server = await arena.start();
    await server.stop();
    const key = join(server.folder, 'session-key.pem');
    writeFileSync(key, '');
    try {
      const again = await arena.start({ folder: server.folder });
      await signUp(arena.caller(again));
      findings.expect(statSync(key).size > 0, 'the file is still empty');
      findings.expect((statSync(key).mode & 0o77) === 0, 'other users can read the file');
    } catch (error) {
      findings.expect(false, `the server does not start: ${error instanceof Error ? error.message : error}`);
    }
  },
};

const syncedKey: Attack = {
  name: 'synced-session-key',
  promise: 'At the first start, session-key.pem and its folder are synced to disk (requires strace).',
  async run(arena, findings) {
    const trace = join(arena.newFolder(), 'trace');
    try {
      execFileSync('strace', ['-V'], { stdio: 'pipe' });
    } catch {
      findings.note('skipped: strace is not installed');
      return;
    }
    const startedBy = [
      'strace',
      '-f',
      '-y',
      '-s',
      '0',
      '-e',
      'trace=fsync,fdatasync,link,linkat,rename,renameat2',
      '-o',
      trace,
    ];
    const server = await arena.start({ startedBy });
    await server.leave();
    const lines = readFileSync(trace, 'utf8').split('\n');
    const named = lines.findIndex((line) => /(link|rename)\w*\(.*session-key/.test(line));
    const isFileSynced = lines.some((line) => /sync\(\d+<[^>]*session-key/.test(line));
    const isFolderSynced = lines
      .slice(named)
      .some((line) => line.includes('sync(') && line.includes(`<${server.folder}>`));
    findings.expect(isFileSynced, 'the file is not synced');
    findings.expect(isFolderSynced, 'the folder is not synced after the file is renamed');
  },
};

export const processAttacks: readonly Attack[] = [fewDescriptors, hangUp, readMetrics, erasure, emptyKey, syncedKey];
