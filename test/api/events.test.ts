// Runs on SQLite and on PostgreSQL.
import { beforeAll, describe, expect, it } from 'vitest';
import { readEvents } from '../support/rooms/events.ts';
import { scratchName } from '../support/rooms/names.ts';
import type { Person } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

const server = shareServer();

let owner: Person;
let other: Person;
let room: string;
beforeAll(async () => {
  [owner, other] = await Promise.all([server.postroom.signUp('Owner'), server.postroom.signUp('Other')]);
  room = await server.postroom.createRoom(owner, scratchName());
});

async function change(name: string, input: Record<string, unknown>, person: Person): Promise<string> {
  const type = `${name[0]?.toUpperCase()}${name.slice(1)}Input`;
  const thing = name.endsWith('Post') ? 'post' : 'room';
  const query = `mutation ($input: ${type}!) { ${name}(input: $input) { ${thing} { id } } }`;
  return (await server.postroom.ask(query, { input }, person.token))[name][thing].id;
}

async function cursor(): Promise<string> {
  return server.postroom.cursorOf(room);
}

/** All events in the room's log after the cursor `after`. */
async function eventsSince(after: string) {
  const end = await cursor();
  const events = [];
  for (let from = after; from !== end; ) {
    const [event] = await readEvents(server.postroom, { room, after: from, count: 1 });
    if (!event) break;
    events.push(event);
    from = event.cursor;
  }
  return events.map(({ cursor: _, ...event }) => event);
}

describe('the events of a room', () => {
  it('contain every change once, in order, with its actor', async () => {
    const start = await cursor();
    await change('joinRoom', { room }, other);
    const post = await change('createPost', { room, title: 'one' }, other);
    await change('updatePost', { id: post, title: 'two' }, other);
    await change('replacePost', { id: post, title: 'three' }, other);
    await change('updateRoom', { id: room, name: scratchName() }, owner);
    await change('replaceRoom', { id: room, name: scratchName(), visibility: 'PUBLIC' }, owner);
    const kept = await change('createPost', { room, title: 'kept' }, owner);
    await change('deletePost', { id: post }, other);
    await change('leaveRoom', { room }, other);
    const byOther = { actor: { id: other.id } };
    const byOwner = { actor: { id: owner.id } };
    expect(await eventsSince(start)).toEqual([
      { __typename: 'MemberJoined', ...byOther, user: { id: other.id, name: 'Other' } },
      // A replay contains no content of a post that was deleted since.
      { __typename: 'PostCreated', ...byOther, post: null },
      { __typename: 'PostUpdated', ...byOther, post: null },
      { __typename: 'PostUpdated', ...byOther, post: null },
      { __typename: 'RoomUpdated', ...byOwner },
      { __typename: 'RoomUpdated', ...byOwner },
      { __typename: 'PostCreated', ...byOwner, post: { id: kept, title: 'kept', version: 1 } },
      { __typename: 'PostDeleted', ...byOther, postId: post },
      { __typename: 'MemberLeft', ...byOther, user: { id: other.id, name: 'Other' } },
    ]);
  });

  it('contain nothing when nothing changed', async () => {
    await change('joinRoom', { room }, other);
    const post = await change('createPost', { room, title: 'one' }, other);
    const start = await cursor();
    await change('joinRoom', { room }, other);
    await change('joinRoom', { room }, owner);
    await change('publishPost', { id: post }, other);
    await change('updatePost', { id: post }, other);
    await change('updateRoom', { id: room }, owner);
    const refused = { title: 'stale', id: post, expectedVersion: 7 };
    await expect(change('updatePost', refused, other)).rejects.toThrow('CONFLICT');
    await expect(change('createPost', { room, title: '' }, other)).rejects.toThrow('VALIDATION_ERROR');
    await expect(change('deletePost', { id: post }, owner)).rejects.toThrow('FORBIDDEN');
    expect(await cursor()).toBe(start);
    await change('leaveRoom', { room }, other);
    const left = await cursor();
    await change('leaveRoom', { room }, other);
    expect(await cursor()).toBe(left);
  });
});
