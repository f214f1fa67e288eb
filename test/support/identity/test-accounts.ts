import { join } from 'node:path';
import { grantAdmin, launchForTest, type Person, type Postroom, scratchFolder } from '../server/postroom.ts';

/* The users and applications that send requests, and the objects that they request. */

/**
 * The applications of the first three keys are members of the private room. The last key belongs to an admin who is no
 * member.
 */
export const roles = [
  'anonymous',
  'stranger',
  'member',
  'owner',
  'admin',
  'key READ',
  'key WRITE',
  'key READ WRITE',
  'key READ WRITE ADMIN',
] as const;
export type Role = (typeof roles)[number];

type KeyRole = Extract<Role, `key ${string}`>;

function isKeyRole(role: Role): role is KeyRole {
  return role.startsWith('key ');
}

/**
 * The objects of an operation, created again after each change. The private room belongs to the owner, its post to the
 * member.
 */
export interface Ids {
  room: string;
  publicRoom: string;
  post: string;
  draft: string;
  /** A user who is a member of neither room. */
  other: string;
  /** The user ids of the owner and the member. */
  owner: string;
  member: string;
  /** An API key of the owner. */
  apiKey: string;
  /** An invitation to the private room. */
  invitation: string;
  unique: string;
}

export interface TestAccounts {
  postroom: Postroom;
  /** The database. */
  file: string;
  owner: Person;
  member: Person;
  stranger: Person;
  admin: Person;
  /** The user id and the key of each application. */
  applications: Record<KeyRole, { id: string; key: string }>;
}

export async function launchTestAccounts(): Promise<TestAccounts> {
  const file = join(scratchFolder(), 'postroom.db');
  const settings = { DATABASE_URL: `sqlite:${file}` };
  const postroom = await launchForTest(settings);
  const [owner, member, stranger, admin] = [
    await postroom.signUp('owner cast'),
    await postroom.signUp('member'),
    await postroom.signUp('stranger'),
    await postroom.signUp('admin'),
  ];
  await postroom.ask(
    'mutation { signUp(input: { name: "f", email: "fixture@example.org", password: "correct horse" }) { expiresAt } }',
  );
  await grantAdmin(settings, admin);
  const makeKey = async (scopes: string, { token } = stranger) => {
    const { createApiKey } = await postroom.ask(
      `mutation { createApiKey(input: { name: "app", scopes: [${scopes}] }) { key apiKey { user { id } } } }`,
      {},
      token,
    );
    return { id: createApiKey.apiKey.user.id, key: createApiKey.key };
  };
  const applications = {
    'key READ': await makeKey('READ'),
    'key WRITE': await makeKey('WRITE'),
    'key READ WRITE': await makeKey('READ WRITE'),
    'key READ WRITE ADMIN': await makeKey('READ WRITE ADMIN', admin),
  };
  return { postroom, file, owner, member, stranger, admin, applications };
}

export function authorizationOf({ applications, ...people }: TestAccounts, role: Role): string | undefined {
  if (role === 'anonymous') return undefined;
  return isKeyRole(role) ? `ApiKey ${applications[role].key}` : `Bearer ${people[role].token}`;
}

/** A user can have 100 keys. */
const keysKept = 50;

let count = 0;

/** Creates a private and a public room with their posts. The documents are always the same: the server parses them once. */
export async function createObjects({ postroom, owner, member, applications }: TestAccounts): Promise<Ids> {
  if (count % keysKept === 0) await revokeKeys(postroom, owner);
  count += 1;
  const unique = `n${count}`;
  const made = await postroom.ask(
    `mutation ($den: String!, $hall: String!, $owner: ID!, $name: String!) {
      den: createRoom(input: { name: $den, visibility: PRIVATE }) { room { id } }
      hall: createRoom(input: { name: $hall }) { room { id } }
      key: createApiKey(input: { name: "k", scopes: [READ], expiresAt: "2099-01-31T00:00:00.000Z" }) { apiKey { id user { id } } }
      updateUser(input: { id: $owner, name: $name }) { user { id } }
    }`,
    { den: `den ${unique}`, hall: `hall ${unique}`, owner: owner.id, name: `owner ${unique}` },
    owner.token,
  );
  const room: string = made.den.room.id;
  const joining = ['key READ', 'key WRITE', 'key READ WRITE'] as const;
  const members = [member.id, ...joining.map((role) => applications[role].id)];
  await postroom.ask(
    `mutation ($room: ID!) { ${members.map((id, index) => `m${index}: addRoomMember(input: { room: $room, user: "${id}" }) { room { id } }`).join(' ')} }`,
    { room },
    owner.token,
  );
  const { createInvitation } = await postroom.ask(
    'mutation ($room: ID!) { createInvitation(input: { room: $room }) { invitation { id } } }',
    { room },
    owner.token,
  );
  const written = await postroom.ask(
    `mutation ($room: ID!) {
      post: createPost(input: { room: $room, title: "t", body: "b" }) { post { id } }
      draft: createPost(input: { room: $room, title: "d", body: "b", publish: false }) { post { id } }
    }`,
    { room },
    member.token,
  );
  return {
    room,
    publicRoom: made.hall.room.id,
    post: written.post.post.id,
    draft: written.draft.post.id,
    other: made.key.apiKey.user.id,
    owner: owner.id,
    member: member.id,
    apiKey: made.key.apiKey.id,
    invitation: createInvitation.invitation.id,
    unique,
  };
}

async function revokeKeys(postroom: Postroom, { token }: Person): Promise<void> {
  const { viewer } = await postroom.ask('{ viewer { apiKeys { id } } }', {}, token);
  const revoke = 'mutation ($id: ID!) { revokeApiKey(input: { id: $id }) { apiKey { id } } }';
  for (const { id } of viewer.apiKeys) await postroom.ask(revoke, { id }, token);
}

/** Whether `value` contains anything but null, 0 and empty lists or objects. */
export function hasContent(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasContent);
  if (typeof value === 'object' && value !== null) return Object.values(value).some(hasContent);
  return value !== null && value !== 0;
}
