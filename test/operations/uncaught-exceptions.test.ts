import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { arm, launchInstrumented, lineOf, reports } from '../support/boundaries/server.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { hasRedis, RedisServer } from '../support/rooms/redis-server.ts';
import { launch, mainProgram, type PostroomProcess, type Settings, scratchFolder } from '../support/server/postroom.ts';

/* Exceptions in work that many connections share, and exceptions that nothing catches. */

const instrumented = ['transport/long-connections.ts', 'live/bus/checked-connection.ts'];

async function launchArmed(settings: Settings = {}): Promise<PostroomProcess> {
  const postroom = await launchInstrumented({ INSTRUMENTED: instrumented.join(), ...settings });
  onTestFinished(async () => void (await postroom.stop()));
  return postroom;
}

it.each([
  'transport/long-connections.ts: containEach(remaining.splice(0, batchSize))',
  'transport/long-connections.ts: containEach(this.byId.values())',
])('a connection that fails while the server drains does not prevent that of the others: %s', async (id) => {
  const postroom = await launchArmed();
  const sockets = [await ProtocolSocket.open(postroom.webSocketUrl), await ProtocolSocket.open(postroom.webSocketUrl)];
  const from = await arm(postroom, id);
  expect(await postroom.stop()).toBe(0);
  const codes = await Promise.all(sockets.map(async ({ closed }) => (await closed).code));
  expect(codes.toSorted()).toEqual(id.includes('remaining') ? [1011, 1012] : [1012, 1012]);
  expect(postroom.log.slice(from).filter(reports(id))).toMatchObject([{ connectionId: expect.any(String) }]);
});

it.skipIf(!hasRedis)(
  'a message of the bus that cannot be handled is logged, and the next ones are received',
  async () => {
    const redis = await RedisServer.launch();
    onTestFinished(() => redis.stop());
    const postroom = await launchArmed({ REDIS_URL: redis.url });
    const id = 'live/bus/checked-connection.ts: contain((text: string) => this.#receive(text))';
    const from = await arm(postroom, id);
    const line = await lineOf(postroom, from, reports(id));
    expect(line['msg']).toBe('a message of the bus could not be handled');
    const again = await arm(postroom);
    await lineOf(postroom, again, ({ msg, boundary }) => msg === 'passed' && boundary === id);
    expect(postroom.log.slice(from).filter(reports(id))).toEqual([line]);
    expect((await postroom.send('{ __typename }')).status).toBe(200);
  },
);

/** Loaded before the program: a signal causes an exception that nothing of the program can catch. */
const faulty = `
process.on('SIGUSR2', () => setTimeout(() => { throw new Error('thrown by a timer', { cause: new Error('its cause') }); }));
process.on('SIGWINCH', () => void Promise.reject(new Error('rejected by nobody')));
`;

async function launchFaulty(): Promise<PostroomProcess> {
  const file = join(scratchFolder(), 'faulty.mjs');
  writeFileSync(file, faulty);
  const postroom = await launch({ LOG_LEVEL: 'info' }, ['--import', file, ...mainProgram]);
  onTestFinished(async () => void (await postroom.stop()));
  return postroom;
}

const uncaught = ({ msg }: Record<string, unknown>) => msg === 'an exception was not caught: the server stops';

it.each([
  ['SIGUSR2', 'thrown by a timer: its cause'],
  ['SIGWINCH', 'rejected by nobody'],
] as const)('an exception that nothing catches is logged with its cause, and the server drains and exits with 1: %s', async (signal, message) => {
  const postroom = await launchFaulty();
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  const exited = new Promise((resolve) => postroom.process.once('close', resolve));
  postroom.process.kill(signal);
  expect((await socket.closed).code).toBe(1012);
  expect(await exited).toBe(1);
  expect(postroom.log.filter(uncaught)).toMatchObject([{ level: 50, err: { message } }]);
  expect(postroom.log.at(-1)).toMatchObject({ msg: 'stopped' });
});

it('a second exception while the server drains ends it at once', async () => {
  const postroom = await launchFaulty();
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  // The close frame of the server is not answered.
  socket.rawSocket.pause();
  const exited = new Promise((resolve) => postroom.process.once('close', resolve));
  postroom.process.kill('SIGUSR2');
  await lineOf(postroom, 0, ({ msg }) => msg === 'stopping');
  postroom.process.kill('SIGWINCH');
  expect(await exited).toBe(1);
  expect(postroom.log.filter(uncaught)).toHaveLength(2);
  expect(postroom.log.some(({ msg }) => msg === 'stopped')).toBe(false);
});
