// Runs on SQLite and on PostgreSQL.
import { expect, it } from 'vitest';
import { readMetrics, untilCounts } from '../support/engine/metrics.ts';
import { change, type InboxEvent, InboxStream } from '../support/inbox/inbox-stream.ts';
import { launchForTest, type Person, type Postroom } from '../support/server/postroom.ts';

/* The rooms of an inbox whose client does not read while its user leaves and joins rooms. */

const query = `subscription { inbox {
  __typename cursor room { id name posts(last: 3) { nodes { title } } } ... on PostCreated { post { title body } }
} }`;

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
  const postroom = await launchForTest();
  const [ada, bob] = [await postroom.signUp('Ada'), await postroom.signUp('Bob')];
  const create = `mutation { createRoom(input: { name: "hall", visibility: ${visibility} }) { room { id } } }`;
  const hall: string = (await postroom.ask(create, {}, ada.token)).createRoom.room.id;
  const add = `mutation { addRoomMember(input: { room: "${hall}", user: "${bob.id}" }) { room { id } } }`;
  await postroom.ask(add, {}, ada.token);
  const own = await postroom.createRoom(bob, 'own');
  const inbox = await InboxStream.open(postroom, bob, { query });
  inbox.socket.rawSocket.pause();
  const body = 'x'.repeat(10_000);
  while ((await readMetrics(postroom))['slow_consumers'] === 0) {
    await Promise.all(Array.from({ length: 50 }, () => postroom.createPost(bob, own, 'fill', body)));
  }
  return { postroom, ada, bob, hall, inbox };
}

/** The client reads again: the events of the hall that it receives until it receives this number, or the hall has ended. */
async function resume({ postroom, bob, inbox }: Paused, count = Number.POSITIVE_INFINITY): Promise<InboxEvent[]> {
  inbox.socket.rawSocket.resume();
  const ended = count < Number.POSITIVE_INFINITY ? undefined : postEnd(postroom, bob);
  const events: InboxEvent[] = [];
  while (events.length < count) {
    const event = await inbox.next();
    if (event.room.name === 'hall') events.push(event);
    if (event.post?.title === 'end') break;
  }
  await ended;
  return events;
}

/** A post after which no event of the hall arrives. */
async function postEnd(postroom: Postroom, bob: Person): Promise<void> {
  await untilCounts(postroom, { feeds: 1 });
  await postroom.createPost(bob, await postroom.createRoom(bob, 'last'), 'end');
}

it('a client that reads again after its user was removed from a private room receives nothing that was written since', async () => {
  const paused = await pause('PRIVATE');
  const { postroom, ada, bob, hall } = paused;
  await postroom.createPost(ada, hall, 'seen');
  const { replayed_events_total: before = 0 } = await readMetrics(postroom);
  const remove = `mutation { removeRoomMember(input: { room: "${hall}", user: "${bob.id}" }) { room { id } } }`;
  await postroom.ask(remove, {}, ada.token);
  // The end of the membership does not wait until the client reads.
  await expect.poll(async () => (await readMetrics(postroom))['replayed_events_total']).toBe(before + 2);
  await postroom.createPost(ada, hall, 'secret');
  const room = { posts: { nodes: [{ title: 'seen' }] } };
  expect(await resume(paused)).toMatchObject([
    { __typename: 'PostCreated', room },
    { __typename: 'MemberLeft', room },
  ]);
});

it('a client that reads again after a room that its user has left became private receives nothing of it', async () => {
  const paused = await pause('PUBLIC');
  const { postroom, ada, bob, hall } = paused;
  const other = await InboxStream.open(postroom, bob);
  await postroom.createPost(ada, hall, 'not read in time');
  await change(postroom, 'markRead', bob, hall);
  await change(postroom, 'leaveRoom', bob, hall);
  expect(await other.take(3)).toContain('MemberLeft hall');
  const hide = `mutation { updateRoom(input: { id: "${hall}", visibility: PRIVATE }) { room { id } } }`;
  await postroom.ask(hide, {}, ada.token);
  await postroom.createPost(ada, hall, 'secret');
  expect(await resume(paused)).toEqual([]);
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
