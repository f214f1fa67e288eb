// Runs on SQLite and on PostgreSQL.
import { expect, it } from 'vitest';
import { readMetrics, untilCounts } from '../support/engine/metrics.ts';
import { change, type InboxEvent, InboxStream } from '../support/inbox/inbox-stream.ts';
import { launchForTest, type Person, type Postroom } from '../support/server/postroom.ts';

/* The rooms of an inbox whose client does not read while its user leaves and joins rooms. */

const query = `subscription { inbox {
  __typename cursor room { id name }
  ... on PostCreated { post { title body a: body b: body c: body d: body } }
} }`;
/** Five times its 80 kB are an event of 400 kB, so that few events fill the buffers of the kernel, whatever their size is. */
const longBody = '😀'.repeat(20_000);

interface Paused {
  postroom: Postroom;
  ada: Person;
  bob: Person;
  /** A room of Ada, which Bob has joined. */
  hall: string;
  /** The inbox of Bob, whose client does not read. */
  inbox: InboxStream;
}

async function pause(visibility: 'PUBLIC' | 'PRIVATE'): Promise<Paused> {
  const postroom = await launchForTest({ LOG_LEVEL: 'debug' });
  const [ada, bob] = [await postroom.signUp('Ada'), await postroom.signUp('Bob')];
  const create = `mutation { createRoom(input: { name: "hall", visibility: ${visibility} }) { room { id } } }`;
  const hall: string = (await postroom.ask(create, {}, ada.token)).createRoom.room.id;
  const add = `mutation { addRoomMember(input: { room: "${hall}", user: "${bob.id}" }) { room { id } } }`;
  await postroom.ask(add, {}, ada.token);
  const own = await postroom.createRoom(bob, 'own');
  const inbox = await InboxStream.open(postroom, bob, { query });
  inbox.socket.rawSocket.pause();
  // The kernel may still take bytes when a client is a slow consumer for the first time.
  for (let slowFor = 0; slowFor < 10; ) {
    await postroom.createPost(bob, own, 'fill', longBody);
    slowFor = (await readMetrics(postroom))['slow_consumers'] === 0 ? 0 : slowFor + 1;
  }
  return { postroom, ada, bob, hall, inbox };
}

/** Ends the membership of Bob in the hall, and waits until the inbox knows: a client that reads before gets all events. */
async function end({ postroom: { log } }: Paused, change: () => Promise<unknown>): Promise<void> {
  const before = log.length;
  await change();
  const isFound = () => {
    const statements = log.slice(before).map(({ sql }) => String(sql));
    const readAt = statements.findIndex((sql) => sql.includes('left join "userEvents"'));
    return readAt >= 0 && statements.slice(readAt).some((sql) => sql.startsWith('select "visibility", "deletedAt"'));
  };
  await expect.poll(isFound).toBe(true);
}

/** The client reads again: the events of the hall that it receives until it receives this number. */
async function resume({ inbox }: Paused, count: number): Promise<InboxEvent[]> {
  inbox.socket.rawSocket.resume();
  const events: InboxEvent[] = [];
  while (events.length < count) {
    const event = await inbox.next();
    if (event.room.name === 'hall') events.push(event);
  }
  return events;
}

/** The client reads again: the events of the hall that it receives until the hall has ended. */
async function resumeUntilEnd({ postroom, bob, inbox }: Paused): Promise<InboxEvent[]> {
  inbox.socket.rawSocket.resume();
  // The events do not wait for the test, which takes them later.
  await untilCounts(postroom, { feeds: 1 });
  await postroom.createPost(bob, await postroom.createRoom(bob, 'last'), 'end');
  const events: InboxEvent[] = [];
  for (;;) {
    const event = await inbox.next();
    if (event.post?.title === 'end') return events;
    if (event.room.name === 'hall') events.push(event);
  }
}

it('a client that reads again after its user was removed from a private room receives the MemberLeft alone, with `gap`', async () => {
  const paused = await pause('PRIVATE');
  const { postroom, ada, bob, hall } = paused;
  await postroom.createPost(ada, hall, 'not read in time');
  const remove = `mutation { removeRoomMember(input: { room: "${hall}", user: "${bob.id}" }) { room { id } } }`;
  await end(paused, () => postroom.ask(remove, {}, ada.token));
  await postroom.createPost(ada, hall, 'secret');
  expect(await resumeUntilEnd(paused)).toMatchObject([{ __typename: 'MemberLeft', gap: true }]);
});

it('a room that its user has left and that became private before the client read ends with the MemberLeft alone', async () => {
  const paused = await pause('PUBLIC');
  const { postroom, ada, bob, hall } = paused;
  await postroom.createPost(ada, hall, 'not read in time');
  await end(paused, () => change(postroom, 'leaveRoom', bob, hall));
  const hide = `mutation { updateRoom(input: { id: "${hall}", visibility: PRIVATE }) { room { id } } }`;
  await postroom.ask(hide, {}, ada.token);
  await postroom.createPost(ada, hall, 'secret');
  expect(await resumeUntilEnd(paused)).toMatchObject([{ __typename: 'MemberLeft', gap: true }]);
});

it('a client that reads again receives each membership that has ended since', async () => {
  const paused = await pause('PUBLIC');
  const { postroom, ada, bob, hall } = paused;
  for (const title of ['one', 'two', 'three']) {
    await postroom.createPost(ada, hall, title);
    await change(postroom, 'leaveRoom', bob, hall);
    await postroom.createPost(ada, hall, `no member after ${title}`);
    if (title !== 'three') await change(postroom, 'joinRoom', bob, hall);
  }
  const events = (await resume(paused, 8)).map(({ __typename, post }) => post?.title ?? __typename);
  expect(events).toEqual([
    'one',
    'MemberLeft',
    'MemberJoined',
    'two',
    'MemberLeft',
    'MemberJoined',
    'three',
    'MemberLeft',
  ]);
});
