import { once } from 'node:events';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startProxy } from '../../scripts/cluster/proxy.ts';
import { EventStream, streamForms } from '../support/clients/event-stream.ts';
import { postOf, RawConnection } from '../support/clients/http.ts';
import { openClient } from '../support/clients/postroom-client.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { firstSeq, seqOf, seqsBetween } from '../support/rooms/cursors.ts';
import {
  launchForTest,
  launchProcessForTest,
  type Postroom,
  type Settings,
  scratchFolder,
} from '../support/server/postroom.ts';
import { withDatabaseLocked } from '../support/server/shared-server.ts';
import { advanceTime, pollWhileTimePasses, withVirtualTimers } from '../support/server/virtual-timers.ts';

function fileSettings(): { file: string; settings: Settings } {
  const file = join(scratchFolder(), 'postroom.db');
  return { file, settings: { DATABASE_URL: `sqlite:${file}` } };
}

function launchWithVirtualTimers(settings: Settings): Promise<Postroom> {
  return withVirtualTimers(() => launchForTest(settings), { withPromises: true });
}

/** Lets time pass until the server has stopped. */
async function untilStopped(stopping: Promise<unknown>): Promise<void> {
  let hasStopped = false;
  void stopping.then(() => {
    hasStopped = true;
  });
  await pollWhileTimePasses(() => hasStopped).toBe(true);
}

async function readinessOf({ url }: Postroom): Promise<number> {
  return (await fetch(`${url}/ready`)).status;
}

function signUpOf(name: string): { type: string; id: string; payload: { query: string } } {
  const input = `{ name: "${name}", email: "${name}@example.org", password: "correct horse" }`;
  return {
    type: 'subscribe',
    id: name,
    payload: { query: `mutation { signUp(input: ${input}) { user { name } } }` },
  };
}

describe('a server that drains', () => {
  it('is not ready, but serves new and old clients until DRAIN_DELAY_SECONDS have passed', async () => {
    const postroom = await launchWithVirtualTimers({ DRAIN_DELAY_SECONDS: '3' });
    const ada = await postroom.signUp('Ada');
    const room = await postroom.createRoom(ada, 'lobby');
    const query = `subscription { roomEvents(room: "${room}") { __typename } }`;
    const early = await ProtocolSocket.open(postroom.webSocketUrl);
    await early.follow('1', query);
    const connection = await RawConnection.open(postroom);
    connection.send(postOf('{ __typename }'));
    expect((await connection.receive()).headers).toMatchObject({ connection: 'keep-alive' });
    expect(await readinessOf(postroom)).toBe(200);
    const stopped = postroom.stop();
    const readiness = await fetch(`${postroom.url}/ready`);
    expect(readiness.status).toBe(503);
    expect(await readiness.json()).toMatchObject({ status: 'stopping', database: 'up' });
    expect((await fetch(`${postroom.url}/health`)).status).toBe(200);
    const late = await ProtocolSocket.open(postroom.webSocketUrl);
    await late.follow('1', query);
    await postroom.createPost(ada, room, 'still served');
    for (const socket of [early, late]) expect(await socket.take()).toMatchObject({ type: 'next' });
    connection.send(postOf('{ __typename }'));
    expect(await connection.receive()).toMatchObject({ status: 200, headers: { connection: 'close' } });
    await connection.closed();
    advanceTime(2_999);
    expect(await readinessOf(postroom)).toBe(503);
    advanceTime(1);
    await untilStopped(stopped);
    for (const socket of [early, late]) expect(await socket.closed).toMatchObject({ code: 1012 });
    await expect(fetch(`${postroom.url}/health`)).rejects.toThrow();
  });

  it('does not wait for DRAIN_DELAY_SECONDS after Ctrl-C', async () => {
    const postroom = await launchProcessForTest({ DRAIN_DELAY_SECONDS: '600' });
    const ended = once(postroom.process, 'exit');
    postroom.process.kill('SIGINT');
    expect(await ended).toEqual([0, null]);
  });

  it('waits for DRAIN_DELAY_SECONDS after SIGTERM, and later signals do not end it', async () => {
    const postroom = await launchProcessForTest({ DRAIN_DELAY_SECONDS: '600' });
    postroom.process.kill('SIGTERM');
    await expect.poll(() => readinessOf(postroom)).toBe(503);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      postroom.process.kill(signal);
      expect((await postroom.send('{ __typename }')).status).toBe(200);
    }
    await postroom.kill();
  });

  it('closes sockets and streams in batches, and serves the others meanwhile', async () => {
    const postroom = await launchWithVirtualTimers({ DRAIN_SECONDS: '5' });
    const ada = await postroom.signUp('Ada');
    const room = await postroom.createRoom(ada, 'lobby');
    const query = `subscription { roomEvents(room: "${room}") { __typename } }`;
    const left: string[] = [];
    const streams: EventStream[] = [];
    for (const [name, form] of streamForms) {
      const stream = await EventStream.open(postroom.graphqlUrl, query, form);
      void stream.closed.then(() => left.push(`${name} stream`));
      streams.push(stream);
    }
    const sockets: ProtocolSocket[] = [];
    for (let index = 0; index < 248; index += 1) {
      const init = { authorization: `Bearer ${ada.token}` };
      const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init });
      void socket.closed.then(({ code }) => left.push(`socket ${index}: ${code}`));
      sockets.push(socket);
    }
    const [writer, reader] = [sockets[246], sockets[247]];
    const [first] = sockets;
    if (!writer || !reader || !first) throw new Error('There are too few sockets.');
    await reader.follow('1', query);
    const stopped = postroom.stop();
    expect(await first.closed).toEqual({ code: 1012, reason: 'Shutting down' });
    const mutation = `mutation { createPost(input: { room: "${room}", title: "late" }) { post { title } } }`;
    writer.send({ type: 'subscribe', id: '1', payload: { query: mutation } });
    expect((await writer.take()).payload).toEqual({ data: { createPost: { post: { title: 'late' } } } });
    expect(await reader.take()).toMatchObject({ type: 'next' });
    // 250 connections leave in five batches, in the order in which they were opened.
    const batchOf = (name: string) =>
      name.includes('stream') ? 0 : Math.floor((Number(name.split(/[ :]/)[1]) + 2) / 50);
    for (let batch = 0; batch < 5; batch += 1) {
      await expect.poll(() => left.length).toBe(50 * (batch + 1));
      advanceTime(100);
    }
    await untilStopped(stopped);
    expect(left.map(batchOf)).toEqual(Array.from({ length: 250 }, (_, index) => Math.floor(index / 50)));
    expect(left.filter((name) => name.includes('socket')).every((name) => name.endsWith(': 1012'))).toBe(true);
    expect(streams.flatMap(({ received }) => received).filter(({ event }) => event === 'complete')).toEqual([]);
  });

  it('answers the operations that run on a socket before it closes the socket, and starts no more', async () => {
    const { file, settings } = fileSettings();
    const postroom = await launchForTest(settings);
    const socket = await ProtocolSocket.open(postroom.webSocketUrl);
    const stopping = await withDatabaseLocked(file, async () => {
      socket.send(signUpOf('ada'));
      await socket.settle();
      const stopped = postroom.stop();
      socket.send(signUpOf('late'));
      // The server receives it while the other one waits for the lock.
      for (let turn = 0; turn < 20; turn += 1) await setImmediate();
      return { stopped };
    });
    expect(await socket.take(({ type }) => type === 'next')).toMatchObject({
      id: 'ada',
      payload: { data: { signUp: { user: { name: 'ada' } } } },
    });
    expect(await socket.take()).toEqual({ id: 'ada', type: 'complete' });
    expect(await socket.closed).toEqual({ code: 1012, reason: 'Shutting down' });
    await stopping.stopped;
    const next = await launchForTest(settings);
    expect(await next.ask('{ users { data { name } } }')).toEqual({ users: { data: [{ name: 'ada' }] } });
  });

  it('answers pipelined requests that it has begun, the last one with "connection: close"', async () => {
    const { file, settings } = fileSettings();
    const postroom = await launchForTest(settings);
    const connection = await RawConnection.open(postroom);
    const stopping = await withDatabaseLocked(file, async () => {
      connection.send(postOf(signUpOf('ada').payload.query) + postOf(signUpOf('eve').payload.query));
      // A request of another connection is answered after these have begun.
      await postroom.send('{ __typename }');
      const stopped = postroom.stop();
      connection.send(postOf(signUpOf('late').payload.query));
      return { stopped };
    });
    expect(await connection.receive()).toMatchObject({ status: 200, headers: { connection: 'keep-alive' } });
    expect(await connection.receive()).toMatchObject({ status: 200, headers: { connection: 'close' } });
    expect(await connection.closed()).toBe('');
    await stopping.stopped;
  });
});

it('clients of a server that stops resume on another server of the same database, without a gap or a repeat', async () => {
  const { settings } = fileSettings();
  const nodes = [await launchProcessForTest(settings), await launchProcessForTest(settings)] as const;
  const proxy = await startProxy(nodes.map(({ url }) => url));
  onTestFinished(() => proxy.close());
  const ada = await nodes[1].signUp('Ada');
  const room = await nodes[1].createRoom(ada, 'lobby');
  const readers = Array.from({ length: 4 }, () => ({
    seqs: [] as number[],
    lost: 0,
    ...Promise.withResolvers<void>(),
  }));
  const query = `subscription { roomEvents(room: "${room}") { cursor ... on PostCreated { post { title } } } }`;
  await Promise.all(
    readers.map(async (reader) => {
      const { live } = openClient(`${proxy.url}/graphql`);
      live.on('closed', (event) => {
        if ((event as { code: number }).code === 1012) reader.lost += 1;
      });
      const started = new Promise<void>((resolve) => live.on('ping', () => resolve()));
      const fail = (reason: unknown) => reader.reject(new Error(JSON.stringify(reason)));
      live.subscribe<{ roomEvents: { cursor: string; post: { title: string } } }>(
        { query },
        {
          next({ data, errors }) {
            if (!data) return fail(errors);
            reader.seqs.push(seqOf(data.roomEvents.cursor));
            if (data.roomEvents.post.title === 'last') reader.resolve();
          },
          error: fail,
          complete: () => fail('complete'),
        },
      );
      await started;
    }),
  );
  const write = async (count: number) => {
    for (let index = 0; index < count; index += 1) await nodes[1].createPost(ada, room, 'said');
  };
  await write(50);
  await Promise.all([write(100), nodes[0].stop()]);
  await nodes[1].createPost(ada, room, 'last');
  await Promise.all(readers.map(({ promise }) => promise));
  for (const { seqs } of readers) expect(seqs).toEqual(seqsBetween(firstSeq, firstSeq + 151));
  // The proxy had connected every second client to the server that stopped.
  expect(readers.map(({ lost }) => lost).sort()).toEqual([0, 0, 1, 1]);
});
