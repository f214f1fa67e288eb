// Runs on SQLite and on PostgreSQL.
import { expect, it, onTestFinished } from 'vitest';
import { createFaultProxy } from '../support/clients/fault-proxy.ts';
import { openClient } from '../support/clients/postroom-client.ts';
import { type Cursors, change, InboxStream, inboxQuery } from '../support/inbox/inbox-stream.ts';
import { launchForTest } from '../support/server/postroom.ts';

/* The last message of a room tells the client that it can forget the cursor of this room. */

it('the message with the MemberLeft of the viewer, and that with RoomDeleted, have `ended`', async () => {
  const postroom = await launchForTest();
  const [ada, bob] = [await postroom.signUp('Ada'), await postroom.signUp('Bob')];
  const hall = await postroom.createRoom(ada, 'hall');
  await change(postroom, 'joinRoom', bob, hall);
  const inboxes = [await InboxStream.open(postroom, ada), await InboxStream.open(postroom, bob)];
  await change(postroom, 'leaveRoom', bob, hall);
  const cursor = await postroom.cursorOf(hall);
  const left = await Promise.all(inboxes.map((inbox) => inbox.nextLive()));
  expect(left).toEqual([
    { room: hall, cursor },
    { room: hall, cursor, ended: true, cursors: { [bob.id]: expect.any(String) } },
  ]);
  await change(postroom, 'deleteRoom', ada, hall);
  expect(await inboxes[0]?.nextLive()).toEqual({ room: hall, cursor, ended: true });
});

it('a MemberLeft that is replayed has `ended` for its user only', async () => {
  const postroom = await launchForTest();
  const [ada, bob] = [await postroom.signUp('Ada'), await postroom.signUp('Bob')];
  const hall = await postroom.createRoom(ada, 'hall');
  await change(postroom, 'joinRoom', bob, hall);
  const seen = { [hall]: await postroom.cursorOf(hall) };
  await change(postroom, 'leaveRoom', bob, hall);
  const cursor = await postroom.cursorOf(hall);
  await change(postroom, 'joinRoom', bob, hall);
  const [ofAda, ofBob] = [
    await InboxStream.open(postroom, ada, { seen }),
    await InboxStream.open(postroom, bob, { seen }),
  ];
  expect(await ofAda.nextLive()).toEqual({ room: hall, cursor });
  expect(await ofBob.nextLive()).toMatchObject({ room: hall, cursor, ended: true });
});

it('@postroom/client keeps the cursors of the rooms of the viewer only, and resumes with them', async () => {
  const postroom = await launchForTest();
  const [ada, bob] = [await postroom.signUp('Ada'), await postroom.signUp('Bob')];
  const home = await postroom.createRoom(bob, 'home');
  const proxy = await createFaultProxy(postroom.graphqlUrl);
  onTestFinished(() => proxy.close());
  const { live } = openClient(proxy.url, { token: bob.token, retryWaitMs: () => 0 });
  const sent: { live: { seen: Record<string, Cursors> } }[] = [];
  live.on('opened', (socket) => {
    const { send } = socket as WebSocket;
    (socket as WebSocket).send = function record(text: string) {
      const { type, payload } = JSON.parse(text);
      if (type === 'connection_init') sent.push(payload);
      return send.call(this, text);
    };
  });
  const events: string[] = [];
  live.subscribe<{ inbox: { __typename: string; room: { name: string } } }>(
    { query: inboxQuery },
    {
      next: ({ data }) => void events.push(`${data?.inbox.__typename} ${data?.inbox.room.name}`),
      error: () => {},
      complete: () => {},
    },
  );
  await new Promise<void>((resolve) => live.on('ping', () => resolve()));
  const [hall, attic] = [await postroom.createRoom(ada, 'hall'), await postroom.createRoom(ada, 'attic')];
  for (const room of [hall, attic]) await change(postroom, 'joinRoom', bob, room);
  // Nothing of a room is sent that is deleted before the inbox has it.
  await expect.poll(() => events.length).toBe(2);
  await change(postroom, 'leaveRoom', bob, hall);
  await change(postroom, 'deleteRoom', ada, attic);
  await expect.poll(() => events.length).toBe(4);
  proxy.cut();
  await change(postroom, 'joinRoom', bob, hall);
  await expect.poll(() => events.length).toBe(5);
  expect(Object.values(sent.at(-1)?.live.seen ?? {}).map((cursors) => Object.keys(cursors).sort())).toEqual([
    [home, bob.id],
  ]);
  expect(events.slice(0, 4).toSorted()).toEqual(
    ['MemberJoined hall', 'MemberJoined attic', 'MemberLeft hall', 'RoomDeleted attic'].toSorted(),
  );
  expect(events[4]).toBe('MemberJoined hall');
});
