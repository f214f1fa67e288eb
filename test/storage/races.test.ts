import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seqsBetween } from '../support/rooms/cursors.ts';
import { type Person, type Postroom, type Reply, startInProcess } from '../support/server/postroom.ts';
import { shareServer, withDatabase } from '../support/server/shared-server.ts';

/* Two servers use one database: after a server has checked data, the other must not change it before the write. */

const settings = { RATE_LIMIT: '0', SIGN_IN_ATTEMPTS: '1000' };
const server = shareServer(settings);
let servers: readonly [Postroom, Postroom];
let ada: Person;
let bob: Person;

const signUp =
  'mutation ($email: String!) { signUp(input: { name: "x", email: $email, password: "correct horse" }) { expiresAt } }';
const createRoom =
  'mutation ($name: String!, $visibility: RoomVisibility) { createRoom(input: { name: $name, visibility: $visibility }) { room { id } } }';
const updateRoom =
  'mutation ($room: ID!, $visibility: RoomVisibility) { updateRoom(input: { id: $room, visibility: $visibility }) { room { id } } }';
const createPost = 'mutation ($room: ID!) { createPost(input: { room: $room, title: "of bob" }) { post { id } } }';
const updatePost =
  'mutation ($id: ID!, $version: Int) { updatePost(input: { id: $id, title: "new", expectedVersion: $version }) { post { version } } }';
const deletePost = 'mutation ($id: ID!) { deletePost(input: { id: $id }) { post { id } } }';
const joinRoom = 'mutation ($room: ID!) { joinRoom(input: { room: $room }) { room { id } } }';
const addMember =
  'mutation ($room: ID!, $user: ID!) { addRoomMember(input: { room: $room, user: $user }) { room { id } } }';
const removeMember = addMember.replace('addRoomMember', 'removeRoomMember');
const deleteUser = 'mutation ($id: ID!) { deleteUser(input: { id: $id, deletePosts: true }) { user { id } } }';

beforeAll(async () => {
  const second = await startInProcess({ ...settings, DATABASE_URL: `sqlite:${server.databaseFile}` });
  servers = [server.postroom, second];
  ada = await server.postroom.signUp('Ada');
  bob = await server.postroom.signUp('Bob');
});

afterAll(() => servers[1].stop());

/** Sends a mutation ten times at once, five times to each server. */
function sendTen(mutation: string, variables: Record<string, unknown>, person?: Person): Promise<Reply[]> {
  const send = (postroom: Postroom) => postroom.send(mutation, variables, person?.token);
  return Promise.all(Array.from({ length: 5 }, () => servers.map(send)).flat());
}

function statusesOf(replies: readonly Reply[]): number[] {
  return replies.map(({ status }) => status).sort();
}

function oneOfTen(other: number): number[] {
  return [200, ...Array<number>(9).fill(other)];
}

async function makeRoom(name: string, visibility = 'PUBLIC'): Promise<string> {
  return (await servers[0].ask(createRoom, { name, visibility }, ada.token)).createRoom.room.id;
}

function logOf(room: string): Record<string, unknown>[] {
  return withDatabase(server.databaseFile, (database) =>
    database.prepare('select * from "roomEvents" where "roomId" = ? order by "seq"').all(room),
  );
}

/** The types of a room's events, without consecutive repetitions. */
function phasesOf(room: string): unknown[] {
  const types = logOf(room).map(({ type }) => type);
  return types.filter((type, index) => type !== types[index - 1]);
}

function count(table: string, column: string, id: string): number {
  return withDatabase(server.databaseFile, (database) => {
    const row = database.prepare(`select count(*) as rows from "${table}" where "${column}" = ?`).get(id);
    return Number(row?.['rows']);
  });
}

describe('of ten requests at the same time, on two servers', () => {
  it('one signs up with an e-mail', async () => {
    expect(statusesOf(await sendTen(signUp, { email: 'same@example.org' }))).toEqual(oneOfTen(409));
  });

  it('one creates a room with a name', async () => {
    expect(statusesOf(await sendTen(createRoom, { name: 'same' }, ada))).toEqual(oneOfTen(409));
  });

  it('one changes a post at a version, and all change it if they expect no version', async () => {
    const id = await servers[0].createPost(ada, await makeRoom('versions'), 'old');
    expect(statusesOf(await sendTen(updatePost, { id, version: 1 }, ada))).toEqual(oneOfTen(409));
    const versions = (await sendTen(updatePost, { id }, ada)).map(({ data }) => data.updatePost.post.version);
    expect(versions.sort((a, b) => a - b)).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  });

  it('one deletes a post, with one event', async () => {
    const room = await makeRoom('deletions');
    const id = await servers[0].createPost(ada, room, 'once');
    expect(statusesOf(await sendTen(deletePost, { id }, ada))).toEqual(oneOfTen(404));
    expect(logOf(room).map(({ type }) => type)).toEqual(['MemberJoined', 'PostCreated', 'PostDeleted']);
  });

  it('all join a room, with one event', async () => {
    const room = await makeRoom('joining');
    expect(statusesOf(await sendTen(joinRoom, { room }, bob))).toEqual(Array(10).fill(200));
    expect(logOf(room).map(({ type }) => type)).toEqual(['MemberJoined', 'MemberJoined']);
  });

  it('each gets the next number of the log, and a later time', async () => {
    const room = await makeRoom('numbers');
    await sendTen(createPost, { room }, bob);
    const log = logOf(room);
    expect(log.map(({ seq }) => seq)).toEqual(seqsBetween(0, 11));
    const times = log.map(({ at }) => Number(at));
    expect(times).toEqual([...new Set(times)].sort((a, b) => a - b));
    expect(log.slice(1).map(({ previousMark }) => previousMark)).toEqual(log.slice(0, -1).map(({ mark }) => mark));
  });
});

describe('no change follows the event that forbids it', () => {
  it('no post of a member follows the event of their removal', async () => {
    const room = await makeRoom('members', 'PRIVATE');
    await servers[0].ask(addMember, { room, user: bob.id }, ada.token);
    const posts = sendTen(createPost, { room }, bob);
    await servers[1].ask(removeMember, { room, user: bob.id }, ada.token);
    await posts;
    expect(phasesOf(room).at(-1)).toBe('MemberLeft');
  });

  it('no post of another user follows the event that makes the room private', async () => {
    const room = await makeRoom('visibility');
    const posts = sendTen(createPost, { room }, bob);
    await servers[1].ask(updateRoom, { room, visibility: 'PRIVATE' }, ada.token);
    await posts;
    expect(phasesOf(room).at(-1)).toBe('RoomUpdated');
  });

  it('nothing of a user is left after the deletion', async () => {
    const room = await makeRoom('departures');
    const eve = await servers[0].signUp('Eve');
    const changes = [sendTen(createPost, { room }, eve), sendTen(joinRoom, { room }, eve)];
    await servers[1].ask(deleteUser, { id: eve.id }, eve.token);
    await Promise.all(changes);
    expect(count('posts', 'authorId', eve.id)).toBe(0);
    expect(count('roomMembers', 'userId', eve.id)).toBe(0);
  });
});
