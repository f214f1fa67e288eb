import { expect, it, onTestFinished } from 'vitest';
import { ProtocolSocket } from '../../support/clients/protocol-socket.ts';
import { launch, mainProgram } from '../../support/server/postroom.ts';

const probe = new URL('../../support/server/report-memory.ts', import.meta.url).pathname;
const program = ['--expose-gc', '--import', probe, ...mainProgram];
/** The number of rooms that the socket subscribes to. Each post has 40 kB. */
const rooms = 50;
const postsPerRoom = 66;
/** The memory budget for the content of recent events, 16 MiB, and the same amount for all other data. */
const maxBytes = 32 * 2 ** 20;

const events = 'subscription ($room: ID!) { roomEvents(room: $room) { __typename } }';
const perRequest = 22;
const posting = `mutation ($room: ID!, $body: String!) {
  ${Array.from({ length: perRequest }, (_, n) => `m${n}: createPost(input: { room: $room, title: "t", body: $body }) { post { id } }`).join(' ')}
}`;

it('the memory that one socket can use for the posts of its rooms is bounded', async () => {
  const postroom = await launch({ RATE_LIMIT: '0' }, program);
  onTestFinished(() => postroom.kill());
  const retained = async () => {
    const reports = () => postroom.log.filter(({ msg }) => msg === 'memory');
    const before = reports().length;
    postroom.process.kill('SIGUSR2');
    await expect.poll(() => reports().length, { timeout: 60_000 }).toBeGreaterThan(before);
    return Number(reports().at(-1)?.['retained']);
  };
  const ada = await postroom.signUp('Ada');
  const ids = await Promise.all(Array.from({ length: rooms }, (_, n) => postroom.createRoom(ada, `room ${n}`)));
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  for (const room of ids) await socket.follow(room, events, { room });
  const body = '\u{1f600}'.repeat(9_990);
  const write = (room: string) => postroom.ask(posting, { room, body }, ada.token);
  const [first = ''] = ids;
  await write(first);
  const before = await retained();
  for (const room of ids) for (let n = 0; n < postsPerRoom; n += perRequest) await write(room);
  const kept = (await retained()) - before;
  process.stdout.write(`${(kept / 2 ** 20).toFixed(1)} MiB\n`);
  expect(kept).toBeLessThan(maxBytes);
});
