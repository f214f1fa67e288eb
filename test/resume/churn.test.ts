import { expect, it } from 'vitest';
import { EventStream } from '../support/clients/event-stream.ts';
import { ProtocolSocket, type Result } from '../support/clients/protocol-socket.ts';
import type { ReceivedQueue } from '../support/clients/received-queue.ts';
import { firstSeq, seqOf, seqsBetween } from '../support/rooms/cursors.ts';
import { createRandom } from '../support/rooms/unreliable-bus.ts';
import type { Person, Postroom } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

const server = shareServer({ LIMIT_MESSAGES: '100000' });
const readerCount = 3;
const streamCount = 300;
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const random = createRandom(seed);
const below = (limit: number) => Math.floor(random() * limit);

const argument = '($room: ID!, $after: String)';
const shared = `subscription ${argument} { roomEvents(room: $room, after: $after) { __typename } }`;
const added = `subscription ${argument} { postAdded(room: $room, after: $after) { title } }`;
/** A document that is different for each number; the server finds at its first event that it is personal. */
const createPersonal = (number: number) =>
  `subscription Number${number} ${argument} { roomEvents(room: $room, after: $after) { __typename actor { email } } }`;

/** The events that one stream received. */
interface Taken {
  query: string;
  start: number;
  seqs: number[];
}

interface Run {
  postroom: Postroom;
  ada: Person;
  room: string;
  /** The distinct cursors received so far, in no order. */
  cursors: string[];
  /** The number of events whose writes were acknowledged. */
  head: number;
  streams: number;
  taken: Taken[];
}

/** Reads one stream after another, each from a random position and for a random number of events. */
async function read(run: Run, reader: number): Promise<void> {
  const { postroom, ada, room, cursors } = run;
  const isAda = reader % 2 === 0;
  const headers: Record<string, string> = isAda ? { authorization: `Bearer ${ada.token}` } : {};
  const open = () => ProtocolSocket.open(postroom.webSocketUrl, { init: headers });
  let socket = await open();
  while (run.streams < streamCount) {
    run.streams += 1;
    const number = run.streams;
    const query = [shared, added, createPersonal(number)][below(3)] ?? shared;
    const variables = { room, after: below(2) === 0 ? cursors[below(cursors.length)] : undefined };
    const count = below(12);
    if (below(4) === 0) {
      const stream = await EventStream.open(postroom.graphqlUrl, query, headers, variables);
      run.taken.push(await take(run, query, stream.start, stream.results, count));
      stream.close();
      continue;
    }
    const { start, results } = socket.subscribe(String(number), query, variables);
    const taken = take(run, query, start, results, count);
    // Sometimes a second equal subscription starts, and completes as soon as it is live.
    if (below(3) === 0)
      socket.subscribe(`also ${number}`, query, variables).start.then(() => socket.complete(`also ${number}`));
    run.taken.push(await taken);
    for (const { data } of results.all) {
      if (data.roomEvents?.actor) expect(data.roomEvents.actor.email).toBe(isAda ? ada.email : null);
    }
    socket.complete(String(number));
    if (below(10) > 0) continue;
    await socket.close();
    socket = await open();
  }
  await socket.close();
}

async function take(
  { cursors }: Run,
  query: string,
  start: Promise<string> | string,
  results: ReceivedQueue<Result>,
  count: number,
): Promise<Taken> {
  const from = seqOf(await start);
  const seqs = (await results.take(count)).map(({ extensions }) => {
    const { cursor } = extensions.live;
    if (!cursors.includes(cursor)) cursors.push(cursor);
    return seqOf(cursor);
  });
  return { query, start: from, seqs };
}

/** Creates posts, and updates every third post. */
async function write(run: Run): Promise<void> {
  const change = 'mutation ($id: ID!) { updatePost(input: { id: $id, title: "again" }) { post { id } } }';
  for (let number = 1; run.streams < streamCount || number < 100; number += 1) {
    const id = await run.postroom.createPost(run.ada, run.room, `post ${number}`);
    if (number % 3 === 0) await run.postroom.ask(change, { id }, run.ada.token);
    run.head += number % 3 === 0 ? 2 : 1;
  }
}

it('streams that begin and end at any moment each receive an unbroken part of the events of the room', async ({
  annotate,
}) => {
  await annotate(`seed ${seed}`);
  const { postroom } = server;
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'lobby');
  const start = await postroom.cursorOf(room);
  const run: Run = { postroom, ada, room, cursors: [start], head: firstSeq, streams: 0, taken: [] };
  let isRead = false;
  // Readers wait for events, so writing continues until all readers are done.
  const writing = (async () => {
    while (!isRead) await write(run);
  })();
  await Promise.all(seqsBetween(0, readerCount).map((reader) => read(run, reader)));
  isRead = true;
  await writing;

  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  const log = await socket.subscribe('log', shared, { room, after: start }).results.take(run.head - firstSeq);
  expect(log.map(({ extensions }) => seqOf(extensions.live.cursor))).toEqual(seqsBetween(firstSeq, run.head));
  const created = seqsBetween(firstSeq, run.head).filter(
    (seq) => log[seq - firstSeq - 1]?.data.roomEvents.__typename === 'PostCreated',
  );
  for (const { query, start, seqs } of run.taken) {
    const all = query === added ? created : seqsBetween(firstSeq, run.head);
    expect(seqs, `seed ${seed}: ${query}`).toEqual(all.filter((seq) => seq > start).slice(0, seqs.length));
  }
});
