import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { launchProcessForTest, scratchFolder, unbundledProgram } from '../support/server/postroom.ts';

it('an event whose resolvers never end, or throw what cannot be logged, is sent with an error, and the events after it arrive', async () => {
  const folder = join(scratchFolder(), 'tasks');
  cpSync(new URL('../../examples/extensions/tasks', import.meta.url), folder, { recursive: true });
  const file = join(folder, 'index.ts');
  const faulty = `Task: {
      title: () => new Promise(() => {}),
      column: () => { throw Object.freeze(new Error('frozen')); },
    },
    Room: {`;
  writeFileSync(file, readFileSync(file, 'utf8').replace('Room: {', faulty));
  const settings = { EXTENSIONS: folder, OPERATION_TIMEOUT_MS: '1500' };
  const postroom = await launchProcessForTest(settings, unbundledProgram);
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'board');
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  const query = (field: string) =>
    `subscription ($room: ID!) { roomEvents(room: $room) { __typename ... on TaskAdded { task { ${field} } } } }`;
  const [hanging, throwing] = ['title', 'column'].map((field) => socket.subscribe(field, query(field), { room }));
  await Promise.all([hanging?.start, throwing?.start]);
  const add = 'mutation ($room: ID!) { addTask(input: { room: $room, title: "x" }) { task { id } } }';
  await postroom.ask(add, { room }, ada.token);
  await postroom.createPost(ada, room, 'after');
  const codes = await Promise.all(
    [hanging, throwing].map(async (operation) => {
      const [failed, after] = (await operation?.results.take(2)) ?? [];
      expect(failed?.extensions.live.cursor).toBeDefined();
      expect(after?.data.roomEvents.__typename).toBe('PostCreated');
      return failed?.errors?.[0]?.extensions.code;
    }),
  );
  expect(codes).toEqual(['SERVICE_UNAVAILABLE', 'INTERNAL_SERVER_ERROR']);
});
