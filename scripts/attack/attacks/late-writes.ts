import { DatabaseSync } from 'node:sqlite';
import { createPostMutation } from '../accounts.ts';
import type { Attack, Findings } from '../attack.ts';
import type { Reply } from '../http-client.ts';
import type { Sandbox } from '../sandbox.ts';
import type { Server } from '../server.ts';
import { type Setup, startWithRoom } from '../setup.ts';
import { sleep, until } from '../waiting.ts';

/* A write that is answered with 503 must never be stored. Each write has a unique title to find it in the database. */

/** Takes the write lock of the database. The returned function releases it. */
function lock(sandbox: Sandbox, server: Server): () => void {
  const database = new DatabaseSync(server.databaseFile, { timeout: 5_000 });
  database.exec('begin immediate');
  let isLocked = true;
  const unlock = () => {
    if (isLocked) database.close();
    isLocked = false;
  };
  sandbox.onEnd(unlock);
  return unlock;
}

function storedTitles({ databaseFile }: Server): string[] {
  const database = new DatabaseSync(databaseFile, { readOnly: true, timeout: 5_000 });
  try {
    return database
      .prepare('select "title" from "posts"')
      .all()
      .map(({ title }) => String(title));
  } finally {
    database.close();
  }
}

type Answers = { title: string; reply: Reply | undefined }[];

function write({ client, ada, room }: Setup, count: number): Promise<Answers> {
  const writes = Array.from({ length: count }, async (_, index) => {
    const title = `write ${index}`;
    const sent = client.send(createPostMutation, { input: { room, title } }, { token: ada.token, timeoutMs: 30_000 });
    return { title, reply: await sent.catch(() => undefined) };
  });
  return Promise.all(writes);
}

function checkWrites(findings: Findings, answers: Answers, stored: readonly string[]): void {
  const refused = answers.filter(({ reply }) => reply && reply.status >= 400);
  const done = answers.filter(({ reply }) => reply?.status === 200);
  const late = refused.filter(({ title }) => stored.includes(title));
  const lost = done.filter(({ title }) => !stored.includes(title));
  const other = refused.filter(({ reply }) => reply?.status !== 503 || !reply.headers['retry-after']);
  findings.note(`${done.length} acknowledged, ${refused.length} refused`);
  findings.expect(late.length === 0, `${late.length} of ${refused.length} refused writes are stored`);
  findings.expect(lost.length === 0, `${lost.length} of ${done.length} acknowledged writes are not stored`);
  findings.expect(
    other.length === 0,
    `${other.length} were refused with ${other[0]?.reply?.status} ${other[0]?.reply?.message ?? ''} instead of 503 with Retry-After`,
  );
}

interface LockOptions {
  name: string;
  promise: string;
  lockMs: number;
  settings?: Record<string, string>;
}

/** Writes while another process locks the database. */
function lockedWrites({ name, promise, lockMs, settings = {} }: LockOptions): Attack {
  return {
    name,
    promise,
    async run(sandbox, findings) {
      const setup = await startWithRoom(sandbox, { settings });
      const unlock = lock(sandbox, setup.server);
      const writing = write(setup, 20);
      await sleep(lockMs);
      unlock();
      const answers = await writing;
      await sleep(1_500);
      checkWrites(findings, answers, storedTitles(setup.server));
    },
  };
}

const lockedDatabase = lockedWrites({
  name: 'locked-database',
  promise: 'A write that is refused while another process locks the database for 11 s is not stored later.',
  lockMs: 11_000,
});

const shortTimeout = lockedWrites({
  name: 'operation-timeout',
  promise: 'A write that takes longer than OPERATION_TIMEOUT_MS is not stored after its 503.',
  lockMs: 2_000,
  settings: { OPERATION_TIMEOUT_MS: '500' },
});

const halfDone: Attack = {
  name: 'half-done-mutation',
  promise: 'A mutation that times out is not answered with 503 when some of its fields are stored.',
  async run(sandbox, findings) {
    const { server, ada, room } = await startWithRoom(sandbox);
    await server.stop();
    for (const timeoutMs of [15, 30, 60]) {
      const restarted = await sandbox.start({
        folder: server.folder,
        settings: { OPERATION_TIMEOUT_MS: String(timeoutMs) },
      });
      await expectConsistentAnswer(findings, { server: restarted, client: sandbox.openClient(restarted), ada, room });
      await restarted.stop();
    }
  },
};

/** Sends one mutation: a post, a sign-up with a slow password hash, and another post. */
async function expectConsistentAnswer(
  findings: Findings,
  { client, ada, room, server }: Omit<Setup, 'cursor'>,
): Promise<void> {
  const create = (name: string) => `${name}: createPost(input: { room: "${room}", title: "part" }) { post { id } }`;
  const email = `${Math.random()}@example.org`;
  const slow = `slow: signUp(input: { name: "Bob", email: "${email}", password: "correct horse" }) { expiresAt }`;
  const before = storedTitles(server).length;
  const mutation = `mutation { ${create('first')} ${slow} ${create('last')} }`;
  const reply = await client.send(mutation, {}, { token: ada.token });
  await sleep(1_000);
  const stored = storedTitles(server).length - before;
  const reported = [reply.data?.first, reply.data?.last].filter(Boolean).length;
  findings.note(`${reply.status}: ${reported} posts in the answer, ${stored} stored`);
  findings.expect(reply.status !== 503 || stored === 0, `the answer is 503, but ${stored} of 2 posts are stored`);
}

const clientGone: Attack = {
  name: 'client-gone',
  promise: 'A queued write is not stored when its client has disconnected.',
  async run(sandbox, findings) {
    const { server, client, ada, room } = await startWithRoom(sandbox);
    const socket = await sandbox.socket(server, { params: { authorization: `Bearer ${ada.token}` } });
    const unlock = lock(sandbox, server);
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${ada.token}` };
    const variables = (title: string) => ({ input: { room, title } });
    const calls = ['over HTTP 1', 'over HTTP 2'].map((title) => {
      const call = client.request({ method: 'POST', path: '/graphql', headers });
      call.end(JSON.stringify({ query: createPostMutation, variables: variables(title) }));
      return call;
    });
    socket.subscribe('m1', createPostMutation, variables('over WebSocket 1'));
    socket.subscribe('m2', createPostMutation, variables('over WebSocket 2'));
    await sleep(700);
    for (const call of calls) call.destroy();
    socket.disconnect();
    await sleep(700);
    unlock();
    await sleep(1_500);
    const stored = storedTitles(server);
    findings.expect(stored.length === 0, `${stored.length} of 4 writes are stored: ${stored.join(', ')}`);
  },
};

const stopping: Attack = {
  name: 'stopping',
  promise: 'When the server stops, acknowledged writes are stored and refused writes are not.',
  async run(sandbox, findings) {
    const setup = await startWithRoom(sandbox);
    const answers: Answers = [];
    let hasStopped = false;
    const writePosts = async (writer: number) => {
      for (let index = 0; index < 9 && !hasStopped; index += 1) {
        const title = `writer ${writer} ${index}`;
        const reply = await setup.client
          .send(createPostMutation, { input: { room: setup.room, title } }, { token: setup.ada.token })
          .catch(() => undefined);
        answers.push({ title, reply });
      }
    };
    const writing = Promise.all(Array.from({ length: 10 }, (_, writer) => writePosts(writer)));
    await until(5_000, () => answers.length >= 20);
    const status = await setup.server.stop();
    hasStopped = true;
    await writing;
    findings.expect(status === 0, `the exit status was ${status}`);
    checkWrites(findings, answers, storedTitles(setup.server));
  },
};

export const lateWriteAttacks: readonly Attack[] = [lockedDatabase, shortTimeout, halfDone, clientGone, stopping];
