import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { testExtension } from '../../packages/extension-test/src/index.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { launchProcessForTest, scratchFolder, unbundledProgram } from '../support/server/postroom.ts';

/* The extension that docs/extending.md leads to. */

const page = readFileSync(new URL('../../docs/extending.md', import.meta.url), 'utf8');

function sampleOf(language: string, begins = ''): string {
  const [, sample] = new RegExp(`\`\`\`${language}\n(${begins}.*?)\`\`\``, 's').exec(page) ?? [];
  if (sample === undefined) throw new Error(`docs/extending.md has no sample in ${language}.`);
  return sample;
}

function writeExtension(): string {
  const folder = join(scratchFolder(), 'notes');
  mkdirSync(folder);
  writeFileSync(join(folder, 'schema.graphql'), sampleOf('sdl'));
  writeFileSync(join(folder, 'index.ts'), sampleOf('ts'));
  return folder;
}

it('works as it is written', async () => {
  const folder = writeExtension();
  const settings = { EXTENSIONS: folder, DATABASE_URL: 'sqlite::memory:' };
  const postroom = await launchProcessForTest(settings, unbundledProgram);
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'notes');
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  const added =
    'subscription ($room: ID!) { noteAdded(room: $room) { ... on NoteAdded { note { id text room { id } } } } }';
  const { results, start } = socket.subscribe('1', added, { room });
  await start;
  const add =
    'mutation ($room: ID!) { addNote(input: { room: $room, text: "Hello" }) { note { id text room { id } } } }';
  const { addNote } = await postroom.ask(add, { room }, ada.token);
  expect(addNote.note).toEqual({ id: expect.stringMatching(/^n/), text: 'Hello', room: { id: room } });
  expect((await results.next()).data.noteAdded).toEqual({ note: addNote.note });
});

it('keeps the promise, by the test that is written', async () => {
  const folder = writeExtension();
  const text = sampleOf('ts', "import { it } from 'vitest'");
  const [, test = ''] = /^it\('keeps the promise', \{ timeout: 60_000 \}, \(\) =>(.*)\);$/ms.exec(text) ?? [];
  // The same call, with the folder and this program.
  const place = `extension: '${folder}', program: '${unbundledProgram[0]}'`;
  const call = test.replace("extension: './extensions/notes'", place).replaceAll(': Round', '');
  expect(call).toContain(place);
  await new Function('testExtension', `return ${call.trim()}`)(testExtension);
});
