import { expect, it } from 'vitest';
import { postOf, RawConnection } from '../support/clients/http.ts';
import { makePosts } from '../support/clients/load.ts';
import { launchProcessForTest, mainProgram, type Postroom, type Settings } from '../support/server/postroom.ts';

const descriptors = 128;
const crowd = 200;

/** Starts a server that has fewer file descriptors than the test has clients. */
function launchWithFewDescriptors(settings: Settings = {}): Promise<Postroom> {
  const script = `ulimit -n ${descriptors}; exec "$0" "$@"`;
  return launchProcessForTest(settings, ['-c', script, process.execPath, ...mainProgram], 'sh');
}

it('many clients that use all connections leave file descriptors for the database; dropped connections are counted and logged', async () => {
  const postroom = await launchWithFewDescriptors();
  const author = await postroom.signUp('Ada');
  const room = await postroom.createRoom(author, 'lobby');
  await makePosts(postroom, { author, room, count: 50, bytes: 20_000 });
  const first = await RawConnection.open(postroom);
  const others = await Promise.all(Array.from({ length: 8 }, () => RawConnection.open(postroom)));
  await Promise.allSettled(Array.from({ length: crowd }, () => RawConnection.open(postroom)));
  await expect
    .poll(() => postroom.log)
    .toMatchObject([{ level: 40, msg: expect.stringContaining('limit of open files') }]);
  // Each query selects a cursor, so it reads from a snapshot, which uses a separate connection to the database.
  for (const connection of others) connection.send(postOf(`{ room(id: "${room}") { cursor } }`));
  for (const connection of others) expect((await connection.receive()).status).toBe(200);
  // Long bodies are read in a thread, which is started now. It opens the database, too.
  const [reader] = others as [RawConnection];
  reader.send(postOf(`{ room(id: "${room}") { posts(first: 50) { nodes { body } } } }`));
  expect((await reader.receive()).status).toBe(200);
  first.send('GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const { body: text } = await first.receive();
  const dropped = Number(/^postroom_dropped_connections_total (\d+)$/m.exec(text)?.[1]);
  expect(dropped).toBeGreaterThan(0);
  expect(dropped).toBeLessThan(crowd);
});

it('connections to METRICS_PORT do not use the file descriptors of the database', async () => {
  const postroom = await launchWithFewDescriptors({ METRICS_PORT: '0', LOG_LEVEL: 'info' });
  const author = await postroom.signUp('Ada');
  const room = await postroom.createRoom(author, 'lobby');
  await makePosts(postroom, { author, room, count: 50, bytes: 20_000 });
  const metrics = String(postroom.log.find(({ msg }) => msg === 'started')?.['metrics']);
  const reader = await RawConnection.open(postroom);
  for (const url of [metrics, postroom.url])
    await Promise.allSettled(Array.from({ length: crowd }, () => RawConnection.open({ url })));
  await expect
    .poll(() => postroom.log)
    .toContainEqual(expect.objectContaining({ msg: expect.stringContaining('limit of open files') }));
  reader.send(postOf(`{ room(id: "${room}") { posts(first: 50) { nodes { body } } } }`));
  expect((await reader.receive()).status).toBe(200);
});
