// Runs on SQLite and on PostgreSQL.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { sendAs } from '../support/identity/credentials.ts';
import { grantAdmin, launchForTest, type Person, type Postroom } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

/* Sign-up with the code of an invitation, on a server with SIGN_UP=invited and on one with open sign-up. */

const attempts = { SIGN_IN_ATTEMPTS: '10000' };
const openServer = shareServer(attempts);
const settings = { DATABASE_URL: `sqlite:${openServer.databaseFile}`, ...attempts };
const invitedServer = shareServer({ ...settings, SIGN_UP: 'invited' });
const refusal = 'The invitation is missing or wrong, has expired, or was used up or revoked.';
const dayMs = 86_400_000;
let open: Postroom;
let invited: Postroom;
let ada: Person;
let room: string;

beforeAll(async () => {
  open = openServer.postroom;
  invited = invitedServer.postroom;
  ada = await open.signUp('Ada');
  const create = 'mutation { createRoom(input: { name: "den", visibility: PRIVATE }) { room { id } } }';
  room = (await open.ask(create, {}, ada.token)).createRoom.room.id;
});

const newEmail = () => `${randomUUID()}@example.org`;

/** Signs up on the server that requires an invitation. */
function signUp(invitation?: string | null, email = newEmail(), postroom = invited) {
  const query = `mutation ($input: SignUpInput!) {
    signUp(input: $input) { accessToken user { id name rooms(first: 1) { nodes { id } } } }
  }`;
  return postroom.send(query, { input: { name: 'Grace', email, password: 'correct horse', invitation } });
}

async function createInvitation(input: object = {}, { token } = ada, postroom = open) {
  const query = `mutation ($input: CreateInvitationInput!) {
    createInvitation(input: $input) { code invitation { id uses used createdAt expiresAt createdBy { id } room { id } } }
  }`;
  return (await postroom.ask(query, { input: { room, ...input } }, token)).createInvitation;
}

const revoke = (id: string, { token } = ada) =>
  sendAs(
    open,
    `Bearer ${token}`,
    `mutation { revokeInvitation(input: { room: "${room}", id: "${id}" }) { invitation { id } } }`,
  );

async function listInvitations({ token } = ada, id = room) {
  return (await open.ask(`{ room(id: "${id}") { invitations { id uses used } } }`, {}, token)).room.invitations;
}

const countUsers = async () =>
  (await open.ask('{ users { pagination { total } } }', {}, ada.token)).users.pagination.total;

it('a person with the code creates an account that is a member of the room, and the members receive the event', async () => {
  const { code, invitation } = await createInvitation();
  expect(invitation).toMatchObject({ uses: 1, used: 0, createdBy: { id: ada.id }, room: { id: room } });
  expect(Date.parse(invitation.expiresAt) - Date.parse(invitation.createdAt)).toBeCloseTo(7 * dayMs, -4);
  const socket = await ProtocolSocket.open(open.webSocketUrl, { init: { authorization: `Bearer ${ada.token}` } });
  await socket.follow(
    'e',
    `subscription { roomEvents(room: "${room}") { __typename ... on MemberJoined { user { id } actor { id } } } }`,
  );
  const { status, data } = await signUp(code);
  expect(status).toBe(200);
  const { user, accessToken } = data.signUp;
  expect(user).toEqual({
    id: expect.any(String),
    name: 'Grace',
    rooms: { nodes: [{ id: room }] },
  });
  const joined = await socket.take(({ type }) => type === 'next');
  expect(joined.payload.data.roomEvents).toEqual({
    __typename: 'MemberJoined',
    user: { id: user.id },
    actor: { id: user.id },
  });
  await open.createPost(ada, room, 'welcome');
  const asked = await sendAs(invited, `Bearer ${accessToken}`, `{ room(id: "${room}") { viewerRole unread } }`);
  expect(asked.data.room).toEqual({ viewerRole: 'MEMBER', unread: 1 });
  expect(await listInvitations()).toContainEqual({ id: invitation.id, uses: 1, used: 1 });
});

it('on a server with open sign-up, people without a code sign up as before, and a code joins its room', async () => {
  const { code } = await createInvitation();
  expect((await signUp(null, newEmail(), open)).data.signUp.user.rooms.nodes).toEqual([]);
  expect((await signUp(code, newEmail(), open)).data.signUp.user.rooms.nodes).toMatchObject([{ id: room }]);
  expect(await signUp(code, newEmail(), open)).toMatchObject({ status: 403, errors: [{ message: refusal }] });
});

describe('the same refusal, before and after the e-mail address is known, and no account:', () => {
  it('for no code, a code that is wrong, has expired, was used up or revoked, and that of a deleted room', async () => {
    const used = await createInvitation();
    expect((await signUp(used.code)).status).toBe(200);
    const expired = await createInvitation({ expiresAt: new Date(Date.now() + 1_000).toISOString() });
    const revoked = await createInvitation();
    expect(await revoke(revoked.invitation.id)).toMatchObject({ status: 200 });
    const other = await open.createRoom(ada, 'short-lived');
    const ofDeleted = await createInvitation({ room: other });
    await open.ask(`mutation { deleteRoom(input: { id: "${other}" }) { room { id } } }`, {}, ada.token);
    await expect.poll(() => Date.now()).toBeGreaterThan(Date.parse(expired.invitation.expiresAt));
    const users = await countUsers();
    const codes = [undefined, null, '', 'x'.repeat(10_000), used, expired, revoked, ofDeleted];
    for (const given of codes)
      for (const email of [ada.email, newEmail()]) {
        const code = typeof given === 'object' && given !== null ? given.code : given;
        expect(await signUp(code, email)).toMatchObject({
          status: 403,
          errors: [{ message: refusal, extensions: { code: 'FORBIDDEN' } }],
        });
      }
    expect(await countUsers()).toBe(users);
  });

  it('for a code whose creator no longer is an admin, or has deleted the account', async () => {
    const [eve, bob] = [await open.signUp('Eve'), await open.signUp('Bob')];
    await grantAdmin(settings, eve);
    const byAdmin = await createInvitation({ uses: 9 }, eve);
    const own = await open.createRoom(bob, 'of Bob');
    const byBob = await createInvitation({ room: own, uses: 9 }, bob);
    for (const { code } of [byAdmin, byBob]) expect((await signUp(code)).status).toBe(200);
    for (const { id, token } of [eve, bob])
      await open.ask(`mutation { deleteUser(input: { id: "${id}" }) { user { id } } }`, {}, token);
    for (const { code } of [byAdmin, byBob])
      expect(await signUp(code)).toMatchObject({ status: 403, errors: [{ message: refusal }] });
    expect(await listInvitations()).toContainEqual({ id: byAdmin.invitation.id, uses: 9, used: 1 });
  });
});

it('of many people at the same time, as many as the invitation has uses create an account; a taken address uses none', async () => {
  const { code, invitation } = await createInvitation({ uses: 3 });
  expect(await signUp(code, ada.email)).toMatchObject({ status: 409, errors: [{ message: 'This e-mail is taken.' }] });
  const users = await countUsers();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => signUp(code, newEmail(), n % 2 ? open : invited)),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(3).fill(200), ...Array(17).fill(403)]);
  expect(await countUsers()).toBe(users + 3);
  expect(await listInvitations()).toContainEqual({ id: invitation.id, uses: 3, used: 3 });
});

it('the uses and the time have limits, and a room has at most 100 invitations', async () => {
  const own = await open.createRoom(ada, 'full');
  const send = (input: object) =>
    open.send(
      'mutation ($input: CreateInvitationInput!) { createInvitation(input: $input) { code invitation { id } } }',
      { input: { room: own, ...input } },
      ada.token,
    );
  const at = (days: number) => new Date(Date.now() + days * dayMs).toISOString();
  for (const [input, field] of [
    [{ uses: 0 }, 'uses'],
    [{ uses: 1_001 }, 'uses'],
    [{ expiresAt: at(-1) }, 'expiresAt'],
    [{ expiresAt: at(91) }, 'expiresAt'],
  ] as const) {
    expect(await send(input)).toMatchObject({
      status: 422,
      errors: [{ extensions: { details: [{ field, issue: 'out_of_range' }] } }],
    });
  }
  for (let n = 0; n < 100; n += 1) expect((await send({ uses: 1_000, expiresAt: at(89) })).status).toBe(200);
  expect(await send({})).toMatchObject({ status: 409 });
  const [{ id }] = await listInvitations(ada, own);
  await open.ask(
    `mutation { revokeInvitation(input: { room: "${own}", id: "${id}" }) { invitation { id } } }`,
    {},
    ada.token,
  );
  expect((await send({})).status).toBe(200);
  const elsewhere = await revoke(id);
  expect(elsewhere).toMatchObject({ status: 404, errors: [{ message: 'There is no such invitation to this room.' }] });
});

it('neither the database nor the log has the code, and the log has who created, used and revoked it', async () => {
  const logging = await launchForTest({ ...settings, LOG_LEVEL: 'info', SIGN_UP: 'invited' });
  const { code, invitation } = await createInvitation({ uses: 2 }, ada, logging);
  const { user } = (await signUp(code, newEmail(), logging)).data.signUp;
  const invitationId = invitation.id;
  const revoking = `mutation { revokeInvitation(input: { room: "${room}", id: "${invitationId}" }) { invitation { id } } }`;
  await logging.ask(revoking, {}, ada.token);
  const change = { invitationId, roomId: room, byUserId: ada.id };
  await expect
    .poll(() => logging.log.flatMap(({ audit }) => audit ?? []))
    .toEqual([
      { event: 'invitationCreated', ...change },
      { event: 'signedUp', userId: user.id, invitationId },
      { event: 'invitationRevoked', ...change },
    ]);
  expect(JSON.stringify(logging.log)).not.toContain(code);
});
