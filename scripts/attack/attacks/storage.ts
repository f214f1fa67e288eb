import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createPostMutation, createPosts, titles, titlesOf } from '../accounts.ts';
import type { Attack, Findings } from '../attack.ts';
import type { Reply } from '../http-client.ts';
import { type Setup, startWithRoom } from '../setup.ts';
import { sleep, until } from '../waiting.ts';

const main = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
/** The promise is one second; the margin is for a busy machine. */
const noticedWithinMs = 3_000;

function writeOne({ client, ada, room }: Setup, body = ''): Promise<Reply> {
  return client.send(createPostMutation, { input: { room, title: 'one', body } }, { token: ada.token });
}

/** Expects 503 from /ready and for writes after `noticedWithinMs`, while /health stays 200. */
async function expectRefusing(findings: Findings, setup: Setup): Promise<void> {
  await sleep(noticedWithinMs);
  const ready = await setup.client.statusOf('/ready');
  const reply = await writeOne(setup);
  findings.expect(ready === 503, `/ready: ${ready}`);
  findings.expect(reply.status === 503, `a write: ${reply.status} ${reply.code ?? ''}`);
  findings.expect((await setup.client.statusOf('/health')) === 200, '/health is not 200');
}

const removed: Attack = {
  name: 'removed-database',
  promise:
    'When the database file is removed, /ready is 503, writes are refused, and no other file is created in its place.',
  async run(sandbox, findings) {
    const setup = await startWithRoom(sandbox);
    for (const suffix of ['', '-wal', '-shm']) rmSync(setup.server.databaseFile + suffix, { force: true });
    await expectRefusing(findings, setup);
    await setup.client.send('{ rooms { data { cursor } } }').catch(() => undefined);
    findings.expect(!existsSync(setup.server.databaseFile), 'a database was created in its place');
  },
};

const replaced: Attack = {
  name: 'replaced-database',
  promise: 'When another file replaces the database file, /ready is 503 and writes are refused.',
  async run(sandbox, findings) {
    const [setup, other] = [await startWithRoom(sandbox), await startWithRoom(sandbox)];
    await other.server.stop();
    renameSync(other.server.databaseFile, setup.server.databaseFile);
    await expectRefusing(findings, setup);
  },
};

const copiedOver: Attack = {
  name: 'copied-over-database',
  promise: 'When an older copy overwrites the live database, no live stream misses a post silently.',
  async run(sandbox, findings) {
    const { server, client, ada, room } = await startWithRoom(sandbox);
    await createPosts(client, ada, room, titles('A', 1, 5));
    await server.stop();
    const old = `${server.databaseFile}.old`;
    copyFileSync(server.databaseFile, old);
    const again = await sandbox.start({ folder: server.folder });
    const newClient = sandbox.openClient(again, '127.0.0.9');
    await createPosts(newClient, ada, room, titles('A', 6, 10));
    const socket = await sandbox.socket(again);
    await socket.follow('s', titlesOf(room));
    copyFileSync(old, again.databaseFile);
    writeFileSync(`${again.databaseFile}-wal`, '');
    const acknowledged: string[] = [];
    for (const title of titles('B', 6, 14)) {
      const reply = await newClient
        .send(createPostMutation, { input: { room, title } }, { token: ada.token })
        .catch(() => undefined);
      if (reply?.status === 200) acknowledged.push(title);
    }
    const hasEnded = () => socket.errorOf('s') !== undefined || socket.closeCode !== undefined;
    await until(4_000, hasEnded);
    const received = socket.dataOf('s').map(({ roomEvents }) => roomEvents.post?.title);
    const missed = acknowledged.filter((title) => !received.includes(title));
    findings.note(
      `${acknowledged.length} of 9 acknowledged; ${socket.errorOf('s')?.extensions.code ?? 'the stream continues'}`,
    );
    findings.expect(
      hasEnded() || missed.length === 0,
      `the stream continues but missed ${missed.length} of ${acknowledged.length} posts`,
    );
  },
};

const filler = 'filler';

/** Fills the file system except for `leftBytes`. */
function fill(folder: string, leftBytes = 0): void {
  const { bavail, bsize } = statfsSync(folder);
  writeFileSync(join(folder, filler), Buffer.alloc(Math.max(0, bavail * bsize - leftBytes)));
}

const fullDisk: Attack = {
  name: 'full-disk',
  promise:
    'On a full disk, /ready and writes are 503, the log states the reason, and the server recovers when space is freed.',
  async run(sandbox, findings) {
    const setup = await startWithRoom(sandbox, { folder: sandbox.mountSmall(16) });
    const { server, client } = setup;
    fill(server.folder);
    let reply = await writeOne(setup, 'x'.repeat(20_000));
    for (let index = 0; index < 30 && reply.status === 200; index += 1)
      reply = await writeOne(setup, 'x'.repeat(20_000));
    findings.expect(
      reply.status === 503 && reply.headers['retry-after'] !== undefined,
      `a write: ${reply.status} ${reply.message ?? ''}`,
    );
    const ready = await client.statusOf('/ready');
    findings.expect(ready === 503, `/ready: ${ready}`);
    const reads = await client.send('{ rooms(limit: 1) { data { id cursor } } }');
    findings.expect(reads.status === 200, `a query: ${reads.status}`);
    const names = server.log.some((line) => /full|no space|ENOSPC/i.test(line));
    findings.expect(
      names,
      `the log does not state the reason: ${server.log.at(-1)?.slice(0, 160) ?? 'the log is empty'}`,
    );
    rmSync(join(server.folder, filler));
    const recovers = await until(5_000, async () => (await writeOne(setup)).status === 200);
    findings.expect(recovers, 'writes are still refused after space was freed');
    const isReady = await until(5_000, async () => (await client.statusOf('/ready')) === 200);
    findings.expect(isReady, '/ready is still 503 after space was freed');
  },
};

const fullAtStart: Attack = {
  name: 'full-disk-at-start',
  promise: 'On a full disk, serve and import exit with an error that states the reason.',
  async run(sandbox, findings) {
    const folder = sandbox.mountSmall(8);
    const { server } = await startWithRoom(sandbox, { folder });
    await server.stop();
    const lines = Array.from({ length: 4_000 }, (_, index) =>
      JSON.stringify({ type: 'user', name: `user ${index}`.padEnd(80, 'x'), createdAt: '2004-12-25T09:14:00.000Z' }),
    );
    const history = join(sandbox.newFolder(), 'history.ndjson');
    writeFileSync(history, lines.map((line) => `${line}\n`).join(''));
    const elsewhere = sandbox.mountSmall(1);
    // The disk becomes full at the first write, not before.
    fill(elsewhere, 80_000);
    fill(folder, 200_000);
    const runs: [string, string[], string][] = [
      ['start', ['serve'], elsewhere],
      ['import', ['import', history], folder],
    ];
    for (const [what, args, place] of runs) {
      const { status, stderr } = spawnSync(process.execPath, [main, ...args], {
        env: {
          PATH: process.env['PATH'],
          PORT: '0',
          NODE_NO_WARNINGS: '1',
          DATABASE_URL: `sqlite:${join(place, 'postroom.db')}`,
        },
        timeout: 15_000,
      });
      const text = String(stderr).trim();
      findings.expect(status === 1, `${what}: the exit status was ${status}`);
      findings.expect(
        /full|no space|ENOSPC|disk I\/O error/i.test(text) && !/rollback/i.test(text),
        `${what}: ${text.split('\n').at(-1)?.slice(0, 120)}`,
      );
    }
  },
};

export const storageAttacks: readonly Attack[] = [removed, replaced, copiedOver, fullDisk, fullAtStart];
