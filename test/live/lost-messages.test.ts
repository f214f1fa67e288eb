import { expect, it, onTestFinished } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { createUnreliableBus } from '../support/rooms/unreliable-bus.ts';
import { launchForTest, scratchFolder } from '../support/server/postroom.ts';
import { withDatabase } from '../support/server/shared-server.ts';

const query = 'subscription ($room: ID!) { roomEvents(room: $room) { __typename } }';

interface RoomRow {
  head: number;
  headMark: number;
}

/** Appends a number of events to the log of each room in one transaction, as another process would. */
function changeRooms(file: string, counts: Record<string, number>): void {
  withDatabase(file, (database) => {
    database.exec('begin immediate');
    const insert = database.prepare(
      'insert into "roomEvents" ("roomId", "seq", "mark", "previousMark", "type", "subjectId", "version", "at") values (?, ?, ?, ?, ?, ?, ?, ?)',
    );
    for (const [room, count] of Object.entries(counts)) {
      const { head, headMark } = database
        .prepare('select "head", "headMark" from rooms where "id" = ?')
        .get(room) as unknown as RoomRow;
      for (let n = 1; n <= count; n += 1) {
        insert.run(room, head + n, n, n === 1 ? headMark : n - 1, 'RoomUpdated', room, n, Date.now() + n);
      }
      database.prepare('update rooms set "head" = ?, "headMark" = ? where "id" = ?').run(head + count, count, room);
    }
    database.exec('commit');
  });
}

it('a room with many events to catch up on does not delay other rooms', async () => {
  const file = `${scratchFolder()}/postroom.db`;
  const postroom = await launchForTest({ DATABASE_URL: `sqlite:${file}` }, { bus: createUnreliableBus('losesAll') });
  const ada = await postroom.signUp('Ada');
  const busy = await postroom.createRoom(ada, 'busy');
  const quiet = await postroom.createRoom(ada, 'quiet');
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  onTestFinished(() => socket.webSocket.terminate());
  await socket.follow('busy', query, { room: busy });
  await socket.follow('quiet', query, { room: quiet });
  const count = 4_000;
  changeRooms(file, { [busy]: count, [quiet]: 1 });
  await expect.poll(() => socket.nexts('busy').length, { interval: 20 }).toBe(count);
  const nexts = socket.received.filter(({ type }) => type === 'next');
  expect(nexts.findIndex(({ id }) => id === 'quiet')).toBeGreaterThanOrEqual(0);
  expect(nexts.findIndex(({ id }) => id === 'quiet')).toBeLessThan(count / 2);
});
