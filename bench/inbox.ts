import { parseArgs } from 'node:util';
import { type InboxServer, startInboxServer } from './inbox/server.ts';
import { inboxQuery, roomQuery, Streams } from './inbox/streams.ts';
import { createPost } from './support/accounts.ts';
import { printHeading } from './support/heading.ts';
import { measureInTurn } from './support/rounds.ts';
import { ratios, spread } from './support/statistics.ts';
import { formatTable, formatTargets } from './support/table.ts';

/* npm run bench -- inbox [--rounds N] */

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } });
const rounds = Number(values.rounds);
const streamCount = 500;
const roomCount = 300;
/** Each of them has several devices. */
const memberCount = 20;
const eventsPerRound = roomCount / 2;

printHeading('inbox');
const inbox = await startInboxServer(roomCount, memberCount);
try {
  const bytes = await measureMemory(inbox);
  const { room, all } = await measureDelivery(inbox);
  const quotients = ratios(all, room);
  console.log(
    formatTable({
      title: 'Inboxes',
      about: `${streamCount} inboxes of ${roomCount} rooms each, beside ${streamCount} subscribers of a single room. The memory includes sockets and feeds.`,
      rows: [
        {
          streams: 'subscribers of a single room',
          'µs per delivery': spread(room, 1),
          '÷ single room': '',
          'bytes per stream and room': '',
        },
        {
          streams: 'inboxes',
          'µs per delivery': spread(all, 1),
          '÷ single room': spread(quotients),
          'bytes per stream and room': spread([bytes], 0),
        },
      ],
    }),
  );
  console.log(
    formatTargets([
      { name: 'inbox ÷ a single room, CPU per delivery', ratios: quotients, atMost: 1.3 },
      { name: 'bytes per stream and room', ratios: [bytes], atMost: 400 },
    ]),
  );
} finally {
  await inbox.server.stop();
}

function openInboxes(inbox: InboxServer, count: number): Promise<Streams> {
  const { members, rooms } = inbox;
  const subscriptions = Array.from({ length: count }, (_, index) => {
    return { room: '', query: inboxQuery, token: members[index % members.length] };
  });
  return Streams.open(inbox, rooms, subscriptions);
}

/** A few streams are opened and closed first, so that one-time allocations do not count. */
async function measureMemory(inbox: InboxServer): Promise<number> {
  (await openInboxes(inbox, memberCount)).stop();
  const before = await inbox.server.usage('usage after gc');
  const streams = await openInboxes(inbox, streamCount);
  const after = await inbox.server.usage('usage after gc');
  streams.stop();
  return (after.heapBytes - before.heapBytes) / (streamCount * roomCount);
}

/** The CPU time of the server for each delivery, in microseconds: without that of the same posts in a room without streams. */
async function measureDelivery(inbox: InboxServer): Promise<{ room: number[]; all: number[] }> {
  const { server, owner, createRoom } = inbox;
  const [room, quiet] = [await createRoom('single'), await createRoom('quiet')];
  const single = Array.from({ length: streamCount }, () => ({ room, query: roomQuery, token: undefined }));
  const streams = [await Streams.open(inbox, [room], single), await openInboxes(inbox, streamCount)] as const;
  const publishQuiet = async () => {
    for (let number = 0; number < eventsPerRound; number += 1) {
      await createPost(server.port, owner, { room: quiet, title: `Event ${number}` });
    }
  };
  const works = [...streams.map((each) => () => each.publish(eventsPerRound)), publishQuiet];
  const [ofRoom = [], ofInboxes = [], ofQuiet = []] = await measureInTurn(
    works,
    { rounds, warmUpRounds: 1 },
    async (work) => {
      const before = await server.usage();
      await work();
      return (await server.usage()).cpuMicros - before.cpuMicros;
    },
  );
  for (const each of streams) each.stop();
  const perDelivery = (micros: readonly number[]) =>
    micros.map((used, round) => (used - (ofQuiet[round] ?? 0)) / (eventsPerRound * streamCount));
  return { room: perDelivery(ofRoom), all: perDelivery(ofInboxes) };
}
