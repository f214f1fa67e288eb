// Runs on SQLite and on PostgreSQL.
import { expect, it } from 'vitest';
import { insert, writePosts, writeUsers } from '../support/database/rows.ts';
import { seqOf } from '../support/rooms/cursors.ts';
import { shareServer } from '../support/server/shared-server.ts';

const server = shareServer({ LOG_LEVEL: 'debug' });

it('`unread` counts no post after the cursor of the same answer, from which a client counts on', async () => {
  const { postroom, databaseFile } = server;
  const [author = ''] = writeUsers(databaseFile, [1]);
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'lobby');
  writePosts(databaseFile, { room, author, times: [Date.now() + 1_000] });
  const seq = seqOf(await postroom.cursorOf(room)) + 1;
  const at = Date.now() + 2_000;
  const { log } = postroom;
  const push = log.push.bind(log);
  let isWritten = false;
  // The post is committed after the statement that reads the room with its cursor, and before the one that counts.
  log.push = (...lines) => {
    if (!isWritten && lines.some(({ sql }) => / from "rooms" /.test(String(sql)))) {
      isWritten = true;
      const [subjectId = ''] = writePosts(databaseFile, { room, author, times: [at] });
      const event = { roomId: room, seq, mark: 1, previousMark: 0, at, type: 'PostCreated', subjectId, version: 1 };
      insert(databaseFile, 'roomEvents', [{ ...event, actorId: author }]);
    }
    return push(...lines);
  };
  const query = 'query ($room: ID!) { room(id: $room) { cursor unread } }';
  const { room: found } = await postroom.ask(query, { room }, ada.token);
  expect(isWritten).toBe(true);
  expect([seqOf(found.cursor), found.unread]).toEqual([seq - 1, 1]);
  const later = await postroom.ask('query ($room: ID!) { room(id: $room) { unread } }', { room }, ada.token);
  expect(later.room.unread).toBe(2);
});
