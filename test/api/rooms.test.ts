// Runs on SQLite and on PostgreSQL.
import { beforeAll, describe, expect, it } from 'vitest';
import { scratchName } from '../support/rooms/names.ts';
import type { Person } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

const server = shareServer();

const fields = '{ id name version createdAt updatedAt owner { id } members { nodes { id } } }';
const mutation = (name: string) => {
  const input = `${name[0]?.toUpperCase()}${name.slice(1)}Input`;
  return `mutation ($input: ${input}!) { ${name}(input: $input) { room ${fields} } }`;
};
const [create, update, replace, remove, join, leave] = [
  mutation('createRoom'),
  mutation('updateRoom'),
  mutation('replaceRoom'),
  mutation('deleteRoom'),
  mutation('joinRoom'),
  mutation('leaveRoom'),
] as const;

/** `replaceRoom` requires `visibility`, which is optional in the other inputs. */
const send = (query: string, input: Record<string, unknown>, person?: Person) => {
  const all = query === replace ? { visibility: 'PUBLIC', ...input } : input;
  return server.postroom.send(query, { input: all }, person?.token);
};

async function find(id: string) {
  const { room } = await server.postroom.ask(`query ($id: ID!) { room(id: $id) ${fields} }`, { id });
  return room;
}

let owner: Person;
let other: Person;
beforeAll(async () => {
  [owner, other] = await Promise.all([server.postroom.signUp('Owner'), server.postroom.signUp('Other')]);
});

describe('createRoom', () => {
  it('creates a room of version 1, whose owner is its first member', async () => {
    const name = scratchName();
    const { room } = (await send(create, { name }, owner)).data.createRoom;
    expect(room).toMatchObject({ name, version: 1, owner: { id: owner.id }, members: { nodes: [{ id: owner.id }] } });
    expect(room.createdAt).toBe(room.updatedAt);
    expect(await find(room.id)).toEqual(room);
    const { roomByName, node } = await server.postroom.ask(
      'query ($name: String!, $id: ID!) { roomByName(name: $name) { id } node(id: $id) { __typename id } }',
      { name, id: room.id },
    );
    expect([roomByName, node]).toEqual([{ id: room.id }, { __typename: 'Room', id: room.id }]);
  });

  it('refuses a name that is taken, exactly as it is written', async () => {
    const name = scratchName();
    await send(create, { name }, owner);
    for (const person of [owner, other]) {
      expect(await send(create, { name }, person)).toMatchObject({
        status: 409,
        code: 'CONFLICT',
        data: { createRoom: null },
      });
    }
    expect(await send(create, { name: name.toUpperCase() }, other)).toMatchObject({ status: 200 });
    const { rooms } = await server.postroom.ask(
      'query ($filter: RoomFilter) { rooms(filter: $filter) { pagination { total } } }',
      {
        filter: { name },
      },
    );
    expect(rooms.pagination.total).toBe(2);
  });

  it('gives the name to one of many requests at the same time', async () => {
    const name = scratchName();
    const all = await Promise.all(Array.from({ length: 8 }, () => send(create, { name }, owner)));
    expect(all.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)]);
  });

  it('is allowed to every signed-in user', async () => {
    expect(await send(create, { name: scratchName() })).toMatchObject({
      status: 401,
      code: 'UNAUTHENTICATED',
      data: { createRoom: null },
    });
    // Authentication is checked before the input, so the invalid name is not reported.
    expect(await send(create, { name: '' })).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
  });
});

describe('updateRoom', () => {
  it('changes the fields given, and increases the version by 1', async () => {
    const id = await server.postroom.createRoom(owner, scratchName());
    const name = scratchName();
    const { room } = (await send(update, { id, name, expectedVersion: 1 }, owner)).data.updateRoom;
    expect(room).toMatchObject({ id, name, version: 2, owner: { id: owner.id } });
    expect(await find(id)).toEqual(room);
  });

  it('without a field changes nothing, not even the version', async () => {
    const id = await server.postroom.createRoom(owner, scratchName());
    const before = await find(id);
    expect((await send(update, { id }, owner)).data.updateRoom.room).toEqual(before);
  });

  it('refuses null for the name', async () => {
    const id = await server.postroom.createRoom(owner, scratchName());
    const reply = await send(update, { id, name: null }, owner);
    expect(reply).toMatchObject({ status: 422, code: 'VALIDATION_ERROR', data: { updateRoom: null } });
    expect(reply.errors?.[0]?.extensions.details).toEqual([{ field: 'name', issue: 'required' }]);
  });
});

describe.each([
  ['updateRoom', update, { name: 'never taken 1' }],
  ['replaceRoom', replace, { name: 'never taken 2' }],
  ['deleteRoom', remove, {}],
])('%s', (name, query, input) => {
  it('refuses any version but the current one', async () => {
    const id = await server.postroom.createRoom(owner, scratchName());
    const before = await find(id);
    for (const expectedVersion of [0, 2, -1]) {
      const reply = await send(query, { id, ...input, expectedVersion }, owner);
      expect(reply).toMatchObject({ status: 409, code: 'CONFLICT', data: { [name]: null } });
    }
    expect(await find(id)).toEqual(before);
    const own = 'name' in input && { name: scratchName() };
    expect(await send(query, { id, ...own, expectedVersion: 1 }, owner)).toMatchObject({ status: 200 });
    expect((await find(id))?.version).toBe(name === 'deleteRoom' ? undefined : 2);
  });

  it('is allowed only to the owner: 401, 403 or 404 for all others, and nothing changes', async () => {
    const id = await server.postroom.createRoom(owner, scratchName());
    await send(join, { room: id }, other);
    const before = await find(id);
    expect(await send(query, { id, ...input })).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
    expect(await send(query, { id, ...input }, other)).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    for (const unknown of [other.id, 'nowhere', '', '\0', `${id}x`]) {
      expect(await send(query, { id: unknown, ...input }, owner)).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    }
    expect(await find(id)).toEqual(before);
  });
});

describe.each([
  ['updateRoom', update],
  ['replaceRoom', replace],
])('%s', (mutation, query) => {
  it('refuses the name of another room, and accepts the room’s own', async () => {
    const name = scratchName();
    const taken = scratchName();
    const id = await server.postroom.createRoom(owner, name);
    await server.postroom.createRoom(other, taken);
    const refused = await send(query, { id, name: taken }, owner);
    expect(refused).toMatchObject({ status: 409, code: 'CONFLICT', data: { [mutation]: null } });
    expect(await find(id)).toMatchObject({ name, version: 1 });
    expect(await send(query, { id, name }, owner)).toMatchObject({ status: 200 });
  });
});

describe('deleteRoom', () => {
  it('returns the room as it was, and deletes its posts and memberships', async () => {
    const name = scratchName();
    const id = await server.postroom.createRoom(owner, name);
    await send(join, { room: id }, other);
    const post = await server.postroom.createPost(other, id, 'going down with the room');
    const deleted = await send(
      'mutation ($input: DeleteRoomInput!) { deleteRoom(input: $input) { room { id name version owner { id } members { edges { cursor } pageInfo { hasNextPage } } posts { nodes { id } } } } }',
      { id },
      owner,
    );
    expect(deleted.data.deleteRoom.room).toEqual({
      id,
      name,
      version: 1,
      owner: { id: owner.id },
      members: { edges: [], pageInfo: { hasNextPage: false } },
      posts: { nodes: [] },
    });
    const gone = await server.postroom.ask(
      `query ($id: ID!, $name: String!, $post: ID!, $other: ID!) {
        room(id: $id) { id } node(id: $id) { id } roomByName(name: $name) { id } post(id: $post) { id }
        posts(filter: { room: $id }) { pagination { total } } rooms(filter: { member: $other, name: $name }) { data { id } }
        user(id: $other) { posts { id } }
      }`,
      { id, name, post, other: other.id },
    );
    expect(gone).toEqual({
      room: null,
      node: null,
      roomByName: null,
      post: null,
      posts: { pagination: { total: 0 } },
      rooms: { data: [] },
      user: { posts: [] },
    });
    expect(await send(remove, { id }, owner)).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    expect(await send(create, { name }, other)).toMatchObject({ status: 200 });
  });
});

describe('joinRoom and leaveRoom', () => {
  it('join and leave once, however often they are called', async () => {
    const id = await server.postroom.createRoom(owner, scratchName());
    const members = async (query: string) => {
      const { data } = await send(query, { room: id }, other);
      const [payload] = Object.values(data) as { room: { version: number; members: { nodes: { id: string }[] } } }[];
      expect(payload?.room.version).toBe(1);
      return payload?.room.members.nodes.map((node) => node.id);
    };
    expect(await members(leave)).toEqual([owner.id]);
    expect(await members(join)).toEqual([owner.id, other.id]);
    expect(await members(join)).toEqual([owner.id, other.id]);
    expect(await members(leave)).toEqual([owner.id]);
    expect(await members(leave)).toEqual([owner.id]);
  });

  it('are allowed to every signed-in user, for rooms that exist', async () => {
    const id = await server.postroom.createRoom(owner, scratchName());
    for (const [name, query] of Object.entries({ joinRoom: join, leaveRoom: leave })) {
      expect(await send(query, { room: id })).toMatchObject({
        status: 401,
        code: 'UNAUTHENTICATED',
        data: { [name]: null },
      });
      for (const room of ['', 'nowhere', '\0', other.id]) {
        expect(await send(query, { room }, other)).toMatchObject({
          status: 404,
          code: 'NOT_FOUND',
          data: { [name]: null },
        });
      }
    }
  });

  it('do not let the owner leave', async () => {
    const id = await server.postroom.createRoom(owner, scratchName());
    expect(await send(leave, { room: id }, owner)).toMatchObject({
      status: 409,
      code: 'CONFLICT',
      data: { leaveRoom: null },
    });
    expect((await find(id)).members.nodes).toEqual([{ id: owner.id }]);
  });
});
