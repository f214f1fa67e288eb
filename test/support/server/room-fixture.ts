import { makePosts } from '../clients/load.ts';
import { launchForTest, type Person, type Postroom } from './postroom.ts';

/** A room on its own server, and a subscription to its events. */
export interface RoomFixture {
  postroom: Postroom;
  ada: Person;
  room: string;
  query: string;
}

export async function openRoomFixture(settings: Record<string, string>): Promise<RoomFixture> {
  const postroom = await launchForTest(settings);
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'hall');
  return { postroom, ada, room, query: follow(room) };
}

export function follow(room: string, after?: string): string {
  const argument = after === undefined ? '' : `, after: "${after}"`;
  return `subscription { roomEvents(room: "${room}"${argument}) { cursor ... on PostCreated { post { title body } } } }`;
}

/** Creates more bytes of events than the kernel buffers for a client that does not read. */
export function fill({ postroom, ada, room }: RoomFixture, count = 1_000): Promise<void> {
  return makePosts(postroom, { author: ada, room, count, bytes: 10_000 });
}
