import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { launchProcessForTest, scratchFolder, unbundledProgram } from '../support/server/postroom.ts';

it('an event whose resolver never ends is sent with an error, and the events after it arrive', async () => {
  const folder = join(scratchFolder(), 'tasks');
  cpSync(new URL('../../examples/extensions/tasks', import.meta.url), folder, { recursive: true });
  const file = join(folder, 'index.ts');
  const hanging = 'Task: { title: () => new Promise(() => {}) },\n    Room: {';
  writeFileSync(file, readFileSync(file, 'utf8').replace('Room: {', hanging));
  const settings = { EXTENSIONS: folder, OPERATION_TIMEOUT_MS: '1500' };
  const postroom = await launchProcessForTest(settings, unbundledProgram);
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'board');
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  const query =
    'subscription ($room: ID!) { roomEvents(room: $room) { __typename ... on TaskAdded { task { title } } } }';
  const { results, start } = socket.subscribe('1', query, { room });
  await start;
  const add = 'mutation ($room: ID!) { addTask(input: { room: $room, title: "x" }) { task { id } } }';
  await postroom.ask(add, { room }, ada.token);
  await postroom.createPost(ada, room, 'after');
  const [failed, after] = await results.take(2);
  expect(failed?.errors?.[0]?.extensions.code).toBe('SERVICE_UNAVAILABLE');
  expect(failed?.extensions.live.cursor).toBeDefined();
  expect(after?.data.roomEvents.__typename).toBe('PostCreated');
});
