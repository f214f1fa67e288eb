import { launchForTest, type Person, type Postroom } from '../server/postroom.ts';
import { change } from './inbox-stream.ts';

/** A server with two rooms of Ada, and a second user. */
export interface InboxFixture {
  postroom: Postroom;
  ada: Person;
  bob: Person;
  hall: string;
  attic: string;
}

interface InboxFixtureOptions {
  settings?: Record<string, string>;
  /** The rooms that Bob joins. */
  joined?: readonly ('hall' | 'attic')[];
}

export async function openInboxFixture({
  settings = {},
  joined = ['hall', 'attic'],
}: InboxFixtureOptions = {}): Promise<InboxFixture> {
  const postroom = await launchForTest(settings);
  const [ada, bob] = [await postroom.signUp('Ada'), await postroom.signUp('Bob')];
  const rooms = { hall: await postroom.createRoom(ada, 'hall'), attic: await postroom.createRoom(ada, 'attic') };
  for (const name of joined) await change(postroom, 'joinRoom', bob, rooms[name]);
  return { postroom, ada, bob, ...rooms };
}
