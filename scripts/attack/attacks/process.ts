import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createPosts, createRoom, signUp, titles, titlesOf } from '../accounts.ts';
import type { Attack } from '../attack.ts';
import { formatCounts, outcomeOf } from '../counts.ts';
import type { HttpClient } from '../http-client.ts';
import { startWithRoom } from '../setup.ts';
import { sleep, until } from '../waiting.ts';

const fewDescriptors: Attack = {
  name: 'few-descriptors',
  promise:
    'Without free file descriptors, queries that select a cursor still work and dropped connections are counted.',
  async run(sandbox, findings) {
    const server = await sandbox.start({ startedBy: ['prlimit', '--nofile=128:128'] });
    const client = sandbox.openClient(server, '127.0.0.9', 1);
    const room = await createRoom(client, await signUp(client));
    const connections: Socket[] = [];
    for (let index = 0; index < 300; index += 1)
      connections.push(connect(server.port, '127.0.0.1').on('error', () => {}));
    sandbox.onEnd(() => {
      for (const connection of connections) connection.destroy();
    });
    await sleep(1_500);
    const outcomes: string[] = [];
    for (let index = 0; index < 20; index += 1) {
      const reply = await client.send('query ($room: ID!) { room(id: $room) { cursor posts { nodes { id } } } }', {
        room,
      });
      outcomes.push(outcomeOf(reply));
    }
    const counts = formatCounts(outcomes);
    findings.expect(counts === '20 × 200', `queries: ${counts}`);
    for (const connection of connections) connection.destroy();
    await until(5_000, async () => (await client.statusOf('/health')) === 200);
    const { text } = await client.get('/metrics');
    const counted =
      /^postroom_\S*(?:drop|refus|reject|turned)\S* [1-9]/m.exec(text)?.[0] ??
      /^\S*(?:drop|refus|reject)\S* [1-9]\S*$/m.exec(text)?.[0];
    findings.expect(counted !== undefined, 'no metric counts the connections that were dropped');
    findings.expect(
      server.log.some((line) => /descriptor|connection|EMFILE/i.test(line)),
      'the log does not report dropped connections',
    );
    findings.note(`queries: ${counts}; ${counted}`);
  },
};

const hangUp: Attack = {
  name: 'hang-up',
  promise: 'SIGHUP stops the server as SIGTERM does: sockets are closed with code 1012, and the exit status is 0.',
  async run(sandbox, findings) {
    const { server, room } = await startWithRoom(sandbox);
    const socket = await sandbox.socket(server);
    await socket.follow('s', titlesOf(room));
    const status = await server.stop('SIGHUP');
    await until(1_000, () => socket.closeCode !== undefined);
    findings.expect(status === 0, `the exit status was ${status}`);
    findings.expect(socket.closeCode === 1012, `the socket was closed with ${socket.closeCode}`);
  },
};

async function readLag(client: HttpClient): Promise<number> {
  const { text } = await client.get('/metrics');
  return Number(/^\S*eventloop_lag_p99_seconds (\S+)$/m.exec(text)?.[1] ?? Number.NaN);
}

const readMetrics: Attack = {
  name: 'metrics-read-twice',
  promise: 'A request for /metrics does not hide the event loop lag from another client.',
  async run(sandbox, findings) {
    const server = await sandbox.start();
    const client = sandbox.openClient(server);
    for (let pause = 0; pause < 8; pause += 1) {
      server.process.kill('SIGSTOP');
      await sleep(150);
      server.process.kill('SIGCONT');
      await sleep(50);
    }
    const first = await readLag(client);
    const second = await readLag(client);
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
  async run(sandbox, findings) {
    const server = await sandbox.start();
    const client = sandbox.openClient(server);
    const name = 'Zebedee Quillfeather';
    const [person, other] = [await signUp(client, name), await signUp(client, 'Bob')];
    const room = await createRoom(client, other);
    await createPosts(client, person, room, titles('A', 1, 3));
    const reader = new DatabaseSync(server.databaseFile, { readOnly: true });
    sandbox.onEnd(() => {
      if (reader.isOpen) reader.close();
    });
    reader.exec('begin');
    reader.prepare('select count(*) from "users"').get();
    const erase = `mutation { deleteUser(input: { id: "${person.id}", deletePosts: true }) { user { id } } }`;
    await client.ask(erase, {}, person.token);
    const isStored = () =>
      ['', '-wal', '-shm'].some((suffix) => {
        const file = server.databaseFile + suffix;
        return existsSync(file) && readFileSync(file).includes(name);
      });
    findings.expect(isStored(), 'the name was removed during the read, so the attack tests nothing');
    await sleep(500);
    reader.exec('commit');
    reader.close();
    const isErased = await until(8_000, () => !isStored());
    findings.expect(isErased, 'the name is still in the files after eight seconds');
  },
};

const emptyKey: Attack = {
  name: 'empty-session-key',
  promise: 'An empty session-key.pem, which a crash can leave, is replaced at the next start.',
  async run(sandbox, findings) {
    const server = await sandbox.start();
    await server.stop();
    const key = join(server.folder, 'session-key.pem');
    writeFileSync(key, '');
    try {
      const again = await sandbox.start({ folder: server.folder });
      await signUp(sandbox.openClient(again));
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
  async run(sandbox, findings) {
    const trace = join(sandbox.newFolder(), 'trace');
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
    const server = await sandbox.start({ startedBy });
    await server.exitThroughProbe();
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
