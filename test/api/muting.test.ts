// Runs on SQLite and on PostgreSQL.
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { ProtocolSocket, type Result } from '../support/clients/protocol-socket.ts';
import { isPostgresTest } from '../support/database/test-database.ts';
import { sendAs } from '../support/identity/credentials.ts';
import { setTyping } from '../support/rooms/present.ts';
import {
  grantAdmin,
  launchForTest,
  type Person,
  type Postroom,
  run,
  scratchFolder,
} from '../support/server/postroom.ts';
import { withDatabase } from '../support/server/shared-server.ts';

/* An admin mutes a user in a room. */

const later = '2099-01-31T00:00:00.000Z';

interface Cast {
  settings: { DATABASE_URL: string };
  file: string;
  postroom: Postroom;
  admin: Person;
  owner: Person;
  ada: Person;
  room: string;
}

async function launchCast(): Promise<Cast> {
  const file = join(scratchFolder(), 'postroom.db');
  const settings = { DATABASE_URL: `sqlite:${file}` };
  const postroom = await launchForTest({ ...settings, LOG_LEVEL: 'info' });
  const [admin, owner, ada] = [
    await postroom.signUp('admin'),
    await postroom.signUp('owner'),
    await postroom.signUp('Ada'),
  ];
  await grantAdmin(settings, admin);
  return { settings, file, postroom, admin, owner, ada, room: await postroom.createRoom(owner, 'hall') };
}

function mute({ postroom, admin, room }: Cast, user: string, until: string | null = later, by = admin) {
  const query = `mutation ($input: MuteUserInput!) { muteUser(input: $input) { user { id } room { id } until } }`;
  return postroom.send(query, { input: { user, room, until } }, by.token);
}

const post = ({ postroom, room }: Cast, { token }: Person, input = '') =>
  postroom.send(`mutation { createPost(input: { room: "${room}", title: "t" ${input} }) { post { id } } }`, {}, token);

const countMutes = ({ file }: Cast) =>
  withDatabase(file, (database) => Number(database.prepare('select count(*) as n from mutes').all()[0]?.['n']));

it('a muted user cannot create, change or publish posts in the room, and is told until when', async () => {
  const cast = await launchCast();
  const { postroom, ada, room } = cast;
  const published: string = (await post(cast, ada)).data.createPost.post.id;
  const draft: string = (await post(cast, ada, 'publish: false')).data.createPost.post.id;
  expect((await mute(cast, ada.id)).data.muteUser).toEqual({ user: { id: ada.id }, room: { id: room }, until: later });
  for (const mutation of [
    `createPost(input: { room: "${room}", title: "t" }) { post { id } }`,
    `createPost(input: { room: "${room}", title: "t", publish: false }) { post { id } }`,
    `updatePost(input: { id: "${published}", title: "u" }) { post { id } }`,
    `updatePost(input: { id: "${draft}", title: "u" }) { post { id } }`,
    `replacePost(input: { id: "${published}", title: "u" }) { post { id } }`,
    `publishPost(input: { id: "${draft}" }) { post { id } }`,
  ]) {
    const { status, errors } = await postroom.send(`mutation { ${mutation} }`, {}, ada.token);
    expect({ mutation, status, errors }).toMatchObject({
      mutation,
      status: 403,
      errors: [{ message: `You are muted in this room until ${later}.`, extensions: { code: 'FORBIDDEN' } }],
    });
  }
  const own = `{ node(id: "${draft}") { ... on Post { title publishedAt } } }`;
  expect((await postroom.ask(own, {}, ada.token)).node).toEqual({ title: 't', publishedAt: null });
  // Deleting is allowed, and so are other rooms.
  await postroom.ask(`mutation { deletePost(input: { id: "${published}" }) { post { id } } }`, {}, ada.token);
  await postroom.createPost(ada, await postroom.createRoom(ada, 'other'), 't');
});

it('a user that is muted while typing is no longer shown as typing, nor are the API keys of the user', async () => {
  const cast = await launchCast();
  const { postroom, ada, owner, room } = cast;
  const createKey = 'mutation { createApiKey(input: { name: "bot", scopes: [READ, WRITE] }) { key } }';
  const key: string = (await postroom.ask(createKey, {}, ada.token)).createApiKey.key;
  const follower = await ProtocolSocket.open(postroom.webSocketUrl);
  const query = 'subscription ($room: ID!) { roomPresence(room: $room) { typing { name } } }';
  const { results } = follower.subscribe('p', query, { room });
  const type = ({ token }: Person) => postroom.ask(`mutation { ${setTyping(room)} }`, {}, token);
  const nextTyping = async (name: string) => {
    const named = ({ data }: Result) => data.roomPresence.typing.some((user: { name: string }) => user.name === name);
    return (await results.next(named)).data.roomPresence.typing;
  };
  await sendAs(postroom, `ApiKey ${key}`, `mutation { ${setTyping(room)} }`);
  await type(ada);
  expect(await nextTyping('Ada')).toEqual([{ name: 'Ada' }, { name: 'bot' }]);
  await mute(cast, ada.id);
  await type(owner);
  expect(await nextTyping('owner')).toEqual([{ name: 'owner' }]);
});

it('a mute lasts when the user leaves and joins again', async () => {
  const cast = await launchCast();
  const { postroom, ada, room } = cast;
  const member = (name: string) => `${name}(input: { room: "${room}" }) { room { id } }`;
  await postroom.ask(`mutation { ${member('joinRoom')} }`, {}, ada.token);
  await mute(cast, ada.id);
  await postroom.ask(`mutation { ${member('leaveRoom')} ${member('joinRoom')} }`, {}, ada.token);
  expect((await post(cast, ada)).code).toBe('FORBIDDEN');
});

it('the owner of the room and admins can be muted, too', async () => {
  const cast = await launchCast();
  for (const person of [cast.owner, cast.admin]) {
    expect((await mute(cast, person.id)).status).toBe(200);
    expect((await post(cast, person)).code).toBe('FORBIDDEN');
  }
});

it('a mute of a user applies to the API keys of the user, too', async () => {
  const cast = await launchCast();
  const { postroom, ada, room } = cast;
  const createKey = 'mutation { createApiKey(input: { name: "bot", scopes: [READ, WRITE] }) { key } }';
  const authorization = `ApiKey ${(await postroom.ask(createKey, {}, ada.token)).createApiKey.key}`;
  const send = (mutation: string) => sendAs(postroom, authorization, `mutation { ${mutation} { post { id } } }`);
  const create = `createPost(input: { room: "${room}", title: "t" })`;
  const id: string = (await send(create)).data.createPost.post.id;
  await mute(cast, ada.id);
  for (const mutation of [create, `updatePost(input: { id: "${id}", title: "u" })`]) {
    expect((await send(mutation)).errors?.[0]?.message).toBe(`You are muted in this room until ${later}.`);
  }
  await mute(cast, ada.id, null);
  expect((await send(create)).status).toBe(200);
});

it('a mute can be changed and ended, and ends at its time', async () => {
  const cast = await launchCast();
  const { ada } = cast;
  await mute(cast, ada.id);
  expect((await mute(cast, ada.id, null)).data.muteUser.until).toBeNull();
  expect((await post(cast, ada)).status).toBe(200);
  // Without a mute nothing happens.
  expect((await mute(cast, ada.id, null)).status).toBe(200);
  await mute(cast, ada.id);
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const until = new Date(Date.now() + 60_000).toISOString();
  expect((await mute(cast, ada.id, until)).data.muteUser.until).toBe(until);
  expect((await post(cast, ada)).errors?.[0]?.message).toBe(`You are muted in this room until ${until}.`);
  vi.setSystemTime(Date.parse(until) - 1);
  expect((await post(cast, ada)).status).toBe(403);
  vi.setSystemTime(Date.parse(until));
  expect((await post(cast, ada)).status).toBe(200);
});

it('a time that has passed, an unknown user and an unknown room are refused', async () => {
  const cast = await launchCast();
  const { postroom, ada, room } = cast;
  const refused = await mute(cast, ada.id, '2020-01-01T00:00:00Z');
  expect(refused.errors?.[0]?.extensions).toMatchObject({
    code: 'VALIDATION_ERROR',
    details: [{ field: 'until', issue: 'out_of_range' }],
  });
  expect((await post(cast, ada)).status).toBe(200);
  const deleted = await postroom.signUp('Bob');
  await postroom.ask(`mutation { deleteUser(input: { id: "${deleted.id}" }) { user { id } } }`, {}, deleted.token);
  for (const user of ['nobody', room, deleted.id]) expect((await mute(cast, user)).code).toBe('NOT_FOUND');
  const elsewhere = { ...cast, room: 'nowhere' };
  expect((await mute(elsewhere, ada.id)).code).toBe('NOT_FOUND');
});

it('only admins can mute: the owner of the room, its members and keys without the scope ADMIN cannot', async () => {
  const cast = await launchCast();
  const { postroom, admin, owner, ada, room } = cast;
  for (const by of [owner, ada]) expect(await mute(cast, ada.id, later, by)).toMatchObject({ status: 403 });
  const query = `mutation { muteUser(input: { user: "${ada.id}", room: "${room}", until: "${later}" }) { until } }`;
  expect(await sendAs(postroom, undefined, query)).toMatchObject({ status: 401 });
  const create = (scopes: string) => `mutation { createApiKey(input: { name: "k", scopes: [${scopes}] }) { key } }`;
  const keyOf = async (scopes: string) => (await postroom.ask(create(scopes), {}, admin.token)).createApiKey.key;
  expect(await sendAs(postroom, `ApiKey ${await keyOf('READ, WRITE')}`, query)).toMatchObject({
    status: 403,
    errors: [{ extensions: { code: 'FORBIDDEN', scope: 'ADMIN' } }],
  });
  expect((await post(cast, ada)).status).toBe(200);
  expect(await sendAs(postroom, `ApiKey ${await keyOf('WRITE, ADMIN')}`, query)).toMatchObject({ status: 200 });
  expect((await post(cast, ada)).status).toBe(403);
});

it('a mute and its end are in the audit log', async () => {
  const cast = await launchCast();
  const { postroom, admin, owner, ada, room: roomId } = cast;
  await mute(cast, ada.id);
  await mute(cast, ada.id, null);
  await mute(cast, ada.id, later, owner);
  const common = { event: 'userMuted', userId: ada.id, roomId, byUserId: admin.id };
  expect(postroom.log.flatMap(({ msg, audit }) => (msg === 'userMuted' ? [audit] : []))).toEqual([
    { ...common, until: later },
    { ...common, until: null },
  ]);
});

it('a mute is deleted with its room, and with the account', async () => {
  const cast = await launchCast();
  const { postroom, owner, ada, room } = cast;
  const other = await postroom.signUp('Bob');
  for (const person of [ada, other]) await mute(cast, person.id);
  expect(countMutes(cast)).toBe(2);
  await postroom.ask(`mutation { deleteUser(input: { id: "${ada.id}" }) { user { id } } }`, {}, ada.token);
  expect(countMutes(cast)).toBe(1);
  await postroom.ask(`mutation { deleteRoom(input: { id: "${room}" }) { room { id } } }`, {}, owner.token);
  expect(countMutes(cast)).toBe(0);
});

it('no post is stored after the answer of muteUser, however many are being created', async () => {
  const cast = await launchCast();
  const { postroom, ada, room } = cast;
  let isMuted = false;
  const late: number[] = [];
  const writers = Array.from({ length: 8 }, async () => {
    for (;;) {
      const sentAfter = isMuted;
      const { status } = await post(cast, ada);
      if (sentAfter) late.push(status);
      if (status !== 200) return;
    }
  });
  await expect
    .poll(async () => (await postroom.ask(`{ posts(filter: { room: "${room}" }) { data { id } } }`)).posts.data.length)
    .toBeGreaterThan(3);
  await mute(cast, ada.id);
  isMuted = true;
  const total = `{ posts(filter: { room: "${room}" }) { pagination { total } } }`;
  const before = await postroom.ask(total);
  await Promise.all(writers);
  expect(late.filter((status) => status === 200)).toEqual([]);
  expect(await postroom.ask(total)).toEqual(before);
});

it.skipIf(isPostgresTest)('a backup contains mutes', async () => {
  const cast = await launchCast();
  const { settings, ada, room } = cast;
  await mute(cast, ada.id);
  const backup = join(scratchFolder(), 'backup.db');
  expect((await run(['backup', backup], settings)).status).toBe(0);
  const restored = { DATABASE_URL: `sqlite:${join(scratchFolder(), 'postroom.db')}` };
  expect((await run(['restore', backup], restored)).status).toBe(0);
  const postroom = await launchForTest(restored);
  const signIn = `mutation { signIn(input: { email: "${ada.email}", password: "${ada.password}" }) { accessToken } }`;
  const token: string = (await postroom.ask(signIn)).signIn.accessToken;
  expect((await post({ ...cast, postroom, room }, { ...ada, token })).code).toBe('FORBIDDEN');
});
