import { createPosts, titlesOf } from '../accounts.ts';
import type { Attack } from '../attack.ts';
import type { Sandbox } from '../sandbox.ts';
import { type Setup, startWithRoom } from '../setup.ts';
import { sleep, until } from '../waiting.ts';

/* The wall clock of the server moves. The monotonic clock is unchanged. */

const secondMs = 1_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

function start(sandbox: Sandbox): Promise<Setup> {
  return startWithRoom(sandbox, { hasMovableClock: true });
}

const openSockets: Attack = {
  name: 'clock-open-sockets',
  promise: 'Sockets stay open and live when the wall clock moves forwards or backwards.',
  async run(sandbox, findings) {
    const { server, client, ada, room } = await start(sandbox);
    let posted = 0;
    const socket = await sandbox.socket(server);
    await socket.follow('s', titlesOf(room));
    for (const offsetMs of [-3 * secondMs, -hourMs, 0, hourMs, 0]) {
      await server.moveClock(offsetMs);
      await socket.waitForPong(2_000);
      await createPosts(client, ada, room, [`post ${posted}`]);
      posted += 1;
      const isDelivered = await until(2_000, () => socket.dataOf('s').length === posted);
      findings.expect(
        socket.closeCode === undefined && isDelivered,
        `at ${offsetMs / secondMs} s: ${socket.closeCode ? `closed with ${socket.closeCode}` : 'an event was not delivered'}`,
      );
      if (findings.faults.length > 0) break;
    }
  },
};

const newPosts: Attack = {
  name: 'clock-new-posts',
  promise: 'A client that continues from endCursor receives posts that are published after the clock was set back.',
  async run(sandbox, findings) {
    const { server, client, ada, room } = await start(sandbox);
    await createPosts(client, ada, room, ['before']);
    const query =
      'query ($room: ID!, $after: String) { room(id: $room) { posts(first: 10, after: $after) { nodes { title } pageInfo { endCursor } } } }';
    const first = await client.ask(query, { room });
    await server.moveClock(-hourMs);
    await createPosts(client, ada, room, ['after']);
    const draft = 'mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id } } }';
    const { createPost } = await client.ask(draft, { input: { room, title: 'published', publish: false } }, ada.token);
    await client.ask(`mutation { publishPost(input: { id: "${createPost.post.id}" }) { post { id } } }`, {}, ada.token);
    const next = await client.ask(query, { room, after: first.room.posts.pageInfo.endCursor });
    const found = next.room.posts.nodes.map(({ title }: { title: string }) => title);
    findings.expect(String(found) === 'after,published', `found after endCursor: ${String(found) || 'nothing'}`);
  },
};

const sessions: Attack = {
  name: 'clock-sessions',
  promise: 'A new session is valid after the clock was temporarily two days ahead.',
  async run(sandbox, findings) {
    const { server, client, ada } = await start(sandbox);
    const signIn = async (password: string): Promise<string> => {
      const mutation = 'mutation ($input: SignInInput!) { signIn(input: $input) { accessToken } }';
      return (await client.ask(mutation, { input: { email: ada.email, password } })).signIn.accessToken;
    };
    await server.moveClock(2 * dayMs);
    const token = await signIn(ada.password);
    const change = 'mutation ($input: ChangePasswordInput!) { changePassword(input: $input) { accessToken } }';
    await client.ask(change, { input: { currentPassword: ada.password, newPassword: 'another horse' } }, token);
    await server.moveClock(0);
    const reply = await client.send('{ viewer { id } }', {}, { token: await signIn('another horse') });
    findings.expect(reply.data?.viewer?.id === ada.id, `a new session: ${reply.status} ${reply.code ?? ''}`);
  },
};

const windows: Attack = {
  name: 'clock-windows',
  promise: 'Retry-After never exceeds the rate window, and a window ends on time, when the clock moves.',
  async run(sandbox, findings) {
    const server = await sandbox.start({ hasMovableClock: true, settings: { RATE_WINDOW_SECONDS: '3' } });
    const client = sandbox.openClient(server, '127.0.0.9');
    const ask = () => client.send('{ users(limit: 1) { data { id } } }');
    for (let index = 0; index < 101; index += 1) await ask();
    await server.moveClock(-hourMs);
    const limited = await ask();
    const retryAfter = Number(limited.headers['retry-after'] ?? 0);
    findings.expect(retryAfter <= 3, `Retry-After ${retryAfter} in a window of 3 s`);
    await sleep(3_500);
    const later = await ask();
    findings.expect(
      later.status === 200,
      `after the window: ${later.status}, Retry-After ${later.headers['retry-after']}`,
    );
  },
};

const signIns: Attack = {
  name: 'clock-sign-in-window',
  promise: 'The limit on sign-in attempts holds when the clock moves, and Retry-After is at most 15 minutes.',
  async run(sandbox, findings) {
    const { server, client, ada } = await start(sandbox);
    const mutation = 'mutation ($input: SignInInput!) { signIn(input: $input) { accessToken } }';
    const guess = () => client.send(mutation, { input: { email: ada.email, password: 'wrong' } });
    for (let index = 0; index < 11; index += 1) await guess();
    for (const offsetMs of [hourMs, -hourMs]) {
      await server.moveClock(offsetMs);
      const reply = await guess();
      findings.expect(reply.status === 429, `at ${offsetMs / hourMs} h another guess: ${reply.status}`);
      const retryAfter = Number(reply.headers['retry-after'] ?? 0);
      findings.expect(retryAfter <= 900, `at ${offsetMs / hourMs} h: Retry-After ${retryAfter}`);
    }
  },
};

export const clockAttacks: readonly Attack[] = [openSockets, newPosts, sessions, windows, signIns];
