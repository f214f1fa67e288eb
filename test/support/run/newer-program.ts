import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

const root = new URL('../../../', import.meta.url).pathname;

/** Programs that a newer one allows to run beside it: all, or none that lacks its migration. */
interface NewerProgram {
  keepsPrograms: boolean;
}

/**
 * Copies the program and adds what a newer version could have: a migration with a nullable column, and the field that it
 * stores. Returns the arguments that start a server.
 */
export function createNewerProgram({ keepsPrograms }: NewerProgram): string[] {
  const folder = copyProgram();
  return changeProgram(folder, changesFor(keepsPrograms));
}

/** Copies the program and adds an event, as README.md describes it. Returns the arguments that start a server. */
export function createProgramWithEvent(): string[] {
  return changeProgram(copyProgram(), addedEvent);
}

/** Copies the program with another schema. Returns the arguments that start a server. */
export function createProgramWithSchema(changes: readonly Change[]): string[] {
  return changeProgram(copyProgram(), { 'schema.graphql': changes });
}

function copyProgram(): string {
  const folder = mkdtempSync(join(tmpdir(), 'postroom-newer-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ['src', 'schema.graphql', 'package.json'])
    cpSync(root + name, join(folder, name), { recursive: true });
  symlinkSync(`${root}node_modules`, join(folder, 'node_modules'));
  return folder;
}

function changeProgram(folder: string, changes: Record<string, readonly Change[]>): string[] {
  for (const [file, own] of Object.entries(changes)) change(join(folder, file), own);
  return [join(folder, 'src/main.ts'), 'serve'];
}

/** A place in a file, and the text that is added after it, or before it. */
type Change = [place: string, added: string, before?: 'before'];

function changesFor(keepsPrograms: boolean): Record<string, Change[]> {
  return {
    'schema.graphql': [
      ['type Post implements Node @cacheControl(maxAge: 5) {', '"The subtitle." subtitle: String'],
      ['input CreatePostInput {', '"The subtitle." subtitle: String'],
    ],
    'src/data/migrations/migrations.ts': [
      [
        // The end of the list.
        '\n];',
        `{ name: 'subtitle', keepsPrograms: ${keepsPrograms}, statements: () => [sql\`alter table posts add column "subtitle" text\`] },`,
        'before',
      ],
    ],
    'src/data/tables.ts': [['const post = {', 'subtitle: orNull(text),']],
    'src/resolvers/post.ts': [['const row = createPostRow({', 'subtitle: input.subtitle ?? null,']],
  };
}

const addedEvent: Record<string, Change[]> = {
  'schema.graphql': [
    ['type Mutation {', '"Pins a post." pinPost("The post." id: ID!): PinPostPayload'],
    [
      'type DeletePostPayload {\n  "The post as it was before it was deleted."\n  post: Post!\n}',
      `"The result of pinPost." type PinPostPayload { "The post." post: Post! }
       "A post was pinned." type PostPinned implements RoomEvent { cursor: String! at: DateTime! room: Room! actor: User post: Post }`,
    ],
  ],
  'src/data/event-log/room-event-types.ts': [['export const roomEventTypes = {', 'PostPinned: { ...noTraits },']],
  'src/resolvers/room-event.ts': [['  ...resolveEvents({', "PostPinned: { subject: 'Post' },"]],
  'src/resolvers/post.ts': [
    [
      'export const postMutations = {',
      `pinPost: (_, { id }, context) =>
         changePostAsViewer(context, id, async (db, { append }, viewer, { post }) => {
           append({ ...eventOf(post), type: 'PostPinned', actorId: viewer.user.id, store: async () => undefined });
           return { post };
         }),`,
    ],
  ],
};

/** @throws Error if the file does not have the place exactly once. */
function change(file: string, changes: readonly Change[]): void {
  let text = readFileSync(file, 'utf8');
  for (const [place, added, before] of changes) {
    const parts = text.split(place);
    if (parts.length !== 2) throw new Error(`${file} has ${JSON.stringify(place)} ${parts.length - 1} times.`);
    text = parts.join(before ? `${added}${place}` : `${place}\n${added}`);
  }
  writeFileSync(file, text);
}
