// Runs on SQLite and on PostgreSQL.
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { connectAs, sendAs } from '../support/identity/credentials.ts';
import { launchForTest, type Person, type Postroom, run, scratchFolder } from '../support/server/postroom.ts';
import { withDatabase } from '../support/server/shared-server.ts';
import { advanceTime, launchWithVirtualClock } from '../support/server/virtual-timers.ts';

const create = `mutation ($input: CreateApiKeyInput!) {
  createApiKey(input: $input) { key apiKey { id name prefix scopes createdAt expiresAt lastUsedAt user { id name } } }
}`;

interface Input {
  name?: string;
  scopes?: string[];
  expiresAt?: string;
}

const createKey = (postroom: Postroom, { token }: Person, input: Input = {}) =>
  postroom.send(create, { input: { name: 'app', scopes: ['READ'], ...input } }, token);

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString();

describe('an API key', () => {
  it('is shown once, listed without itself, used by an application of its name, and not listed once revoked', async () => {
    const postroom = await launchForTest();
    const ada = await postroom.signUp('Ada');
    const expiresAt = inSeconds(3_600);
    const made = await createKey(postroom, ada, { name: 'robot', scopes: ['WRITE', 'READ', 'READ'], expiresAt });
    const { key, apiKey } = made.data.createApiKey;
    expect(key).toMatch(/^pr_live_[0-9A-Za-z]{34}$/);
    expect(apiKey).toMatchObject({ name: 'robot', scopes: ['READ', 'WRITE'], expiresAt, lastUsedAt: null });
    expect(key.startsWith(apiKey.prefix)).toBe(true);
    expect(apiKey.prefix).toHaveLength(14);
    expect(apiKey.user.name).toBe('robot');
    const list = async () =>
      (await postroom.ask('{ viewer { apiKeys { id prefix lastUsedAt } } }', {}, ada.token)).viewer.apiKeys;
    expect(await list()).toEqual([{ id: apiKey.id, prefix: apiKey.prefix, lastUsedAt: null }]);
    expect((await sendAs(postroom, `ApiKey ${key}`)).data).toEqual({ viewer: { id: apiKey.user.id, name: 'robot' } });
    // No answer waits for this write.
    await expect.poll(async () => (await list())[0].lastUsedAt).toMatch(/Z$/);
    const [{ lastUsedAt }] = await list();
    // `lastUsedAt` is updated at most once a minute, so that not every use writes to the database.
    await sendAs(postroom, `apikey ${key}`);
    expect((await list())[0].lastUsedAt).toBe(lastUsedAt);
    await postroom.ask(`mutation { revokeApiKey(input: { id: "${apiKey.id}" }) { apiKey { id } } }`, {}, ada.token);
    expect(await list()).toEqual([]);
    expect(await sendAs(postroom, `ApiKey ${key}`)).toMatchObject({ status: 401 });
    expect(await connectAs(postroom, `ApiKey ${key}`)).toBe(4403);
  });

  it('with a typo is refused without a read of the database', async () => {
    const postroom = await launchForTest({ LOG_LEVEL: 'debug' });
    const ada = await postroom.signUp('Ada');
    const { key } = (await createKey(postroom, ada)).data.createApiKey;
    const statements = () => postroom.log.filter(({ sql }) => sql !== undefined).length;
    // One character replaced, two characters swapped, the last character missing, one character added, another prefix.
    const digits = [...key.slice(8)];
    const swapped = digits.findIndex((digit, n) => n > 0 && digit !== digits[n - 1]);
    const typos = [
      ...digits.map((digit, n) => `pr_live_${digits.with(n, digit === 'x' ? 'y' : 'x').join('')}`),
      `pr_live_${digits
        .with(swapped, digits[swapped - 1] ?? '')
        .with(swapped - 1, digits[swapped] ?? '')
        .join('')}`,
      key.slice(0, -1),
      `${key}0`,
      key.replace('live', 'test'),
    ];
    const before = statements();
    for (const typo of typos) expect((await sendAs(postroom, `ApiKey ${typo}`)).status).toBe(401);
    expect(statements()).toBe(before);
    expect((await sendAs(postroom, `ApiKey ${key}`)).status).toBe(200);
    expect(postroom.log.some(({ sql }) => String(sql).includes('from "apiKeys" where "hash"'))).toBe(true);
  });

  it('expires at the time it was created with, and its socket is closed', async () => {
    const postroom = await launchWithVirtualClock();
    const ada = await postroom.signUp('Ada');
    const room = await postroom.createRoom(ada, 'hall');
    const made = await createKey(postroom, ada, { expiresAt: inSeconds(30) });
    const { key, apiKey } = made.data.createApiKey;
    const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init: { authorization: `ApiKey ${key}` } });
    await socket.follow('e', `subscription { roomEvents(room: "${room}") { __typename } }`);
    advanceTime(0);
    await socket.settle();
    expect(socket.received.find(({ payload }) => payload?.expiresAt)?.payload).toEqual({ expiresAt: apiKey.expiresAt });
    advanceTime(29_999);
    await socket.settle();
    advanceTime(1);
    expect((await socket.closed).code).toBe(4403);
    expect(await sendAs(postroom, `ApiKey ${key}`)).toMatchObject({ status: 401 });
  });

  it('cannot be created with an expiry in the past, without scopes or without a name; all problems are reported together', async () => {
    const postroom = await launchForTest();
    const ada = await postroom.signUp('Ada');
    const refused = await createKey(postroom, ada, { name: '', scopes: [], expiresAt: inSeconds(-1) });
    expect(refused).toMatchObject({ status: 422, code: 'VALIDATION_ERROR', data: { createApiKey: null } });
    expect(refused.errors?.[0]?.extensions.details).toEqual([
      { field: 'name', issue: 'too_short' },
      { field: 'scopes', issue: 'too_short' },
      { field: 'expiresAt', issue: 'out_of_range' },
    ]);
    expect((await postroom.ask('{ viewer { apiKeys { id } } }', {}, ada.token)).viewer.apiKeys).toEqual([]);
  });
});

describe('a user', () => {
  const createMany = async (postroom: Postroom, { token }: Person, count: number) => {
    const one = 'createApiKey(input: { name: "app", scopes: [READ] }) { apiKey { id } }';
    for (let left = count; left > 0; left -= 25) {
      const aliased = Array.from({ length: Math.min(left, 25) }, (_, index) => `k${index}: ${one}`);
      await postroom.ask(`mutation { ${aliased.join(' ')} }`, {}, token);
    }
  };
  const listIds = async (postroom: Postroom, { token }: Person): Promise<string[]> => {
    const { viewer } = await postroom.ask('{ viewer { apiKeys { id } } }', {}, token);
    return viewer.apiKeys.map(({ id }: { id: string }) => id);
  };
  const refused = {
    status: 409,
    code: 'CONFLICT',
    errors: [{ message: 'At most 100 API keys per user, expired keys included; revoke one first.' }],
  };

  it('has at most 100 API keys, even if they are created at the same time, and can create another after revoking one', async () => {
    const postroom = await launchForTest();
    const [ada, bob] = [await postroom.signUp('Ada'), await postroom.signUp('Bob')];
    await createMany(postroom, ada, 99);
    const [created, ...others] = (await Promise.all([createKey(postroom, ada), createKey(postroom, ada)])).sort(
      (one, other) => one.status - other.status,
    );
    expect(created).toMatchObject({ status: 200 });
    expect(others).toMatchObject([refused]);
    const ids = await listIds(postroom, ada);
    expect(ids).toHaveLength(100);
    const accounts = async () =>
      (await postroom.ask('{ users(filter: { name: "app" }) { pagination { total } } }')).users.pagination.total;
    const before = await accounts();
    expect(await createKey(postroom, ada)).toMatchObject(refused);
    // A refused creation of a key creates no user for the key.
    expect(await accounts()).toBe(before);
    expect(await createKey(postroom, bob)).toMatchObject({ status: 200 });
    await postroom.ask(`mutation { revokeApiKey(input: { id: "${ids[50]}" }) { apiKey { id } } }`, {}, ada.token);
    expect(await createKey(postroom, ada)).toMatchObject({ status: 200 });
    expect(await createKey(postroom, ada)).toMatchObject(refused);
  });

  it('finds expired keys in the list, where they count until they are revoked, also for postroom key create', async () => {
    const file = join(scratchFolder(), 'postroom.db');
    const settings = { DATABASE_URL: `sqlite:${file}` };
    const postroom = await launchForTest(settings);
    const ada = await postroom.signUp('Ada');
    await createMany(postroom, ada, 100);
    withDatabase(file, (database) => database.exec('update "apiKeys" set "expiresAt" = 1'));
    expect(await createKey(postroom, ada)).toMatchObject(refused);
    const command = ['key', 'create', '--name', 'x', '--scopes', 'read'];
    const { status, stdout, stderr } = await run([...command, '--owner', ada.email], settings);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toBe('postroom: At most 100 API keys per user, expired keys included; revoke one first.\n');
    expect((await run(command, settings)).status).toBe(0);
    const [expired] = await listIds(postroom, ada);
    await postroom.ask(`mutation { revokeApiKey(input: { id: "${expired}" }) { apiKey { id } } }`, {}, ada.token);
    expect((await run([...command, '--owner', ada.email], settings)).status).toBe(0);
  });
});

describe('postroom key create', () => {
  it('creates a key with an owner, scopes and an expiry', async () => {
    const settings = { DATABASE_URL: `sqlite:${join(scratchFolder(), 'postroom.db')}` };
    const postroom = await launchForTest(settings);
    const ada = await postroom.signUp('Ada');
    const day = '2099-01-31';
    const args = ['--name', 'nightly', '--scopes', 'write,read', '--owner', ada.email, '--expires', day];
    const { status, stdout } = await run(['key', 'create', ...args], settings);
    expect(status).toBe(0);
    const { viewer } = await postroom.ask('{ viewer { apiKeys { name scopes expiresAt prefix } } }', {}, ada.token);
    expect(viewer.apiKeys).toEqual([
      { name: 'nightly', scopes: ['READ', 'WRITE'], expiresAt: `${day}T00:00:00.000Z`, prefix: stdout.slice(0, 14) },
    ]);
    expect((await sendAs(postroom, `ApiKey ${stdout.trim()}`)).data.viewer.name).toBe('nightly');
  });

  const nameless = ['--scopes', 'read'];
  const good = ['--name', 'x', ...nameless];

  it.each([
    ['nothing', [], /^postroom: --name is missing\npostroom: --scopes is missing\nusage: [^\n]+\n$/],
    ['no name', nameless, /^postroom: --name is missing\nusage: /],
    ['an empty name', ['--name', '', ...nameless], /^postroom: --name has no value\nusage: /],
    [
      'a name with a line break',
      ['--name', 'a\nb', ...nameless],
      /^postroom: --name must have [^\n]* \(got "a\\nb"\)\n/,
    ],
    ['unknown scopes', ['--name', 'x', '--scopes', 'read,fly,Dig'], /separated by commas \(got "fly", "Dig"\)\n/],
    [
      'a time of expiry in the past',
      [...good, '--expires', '2001-01-01'],
      /--expires must be .* \(got "2001-01-01"\)\n/,
    ],
    [
      'a time of expiry that is no date',
      [...good, '--expires', 'tomorrow'],
      /--expires must be .* \(got "tomorrow"\)\n/,
    ],
    ['an option without a value at the end', [...good, '--expires'], /^postroom: --expires has no value\nusage: /],
    [
      'an option without a value before another option',
      ['--expires', ...good],
      /^postroom: --expires has no value\nusage: /,
    ],
    [
      'an owner who is not there',
      [...good, '--owner', 'nobody@example.org'],
      /no account with the e-mail nobody@example\.org/,
    ],
    ['an unknown option', [...good, '--color', 'red'], /^postroom: key create takes no --color red\nusage: /],
    ['an argument that is no option', [...good, 'red'], /^postroom: key create takes no red\nusage: /],
  ] as const)('refuses %s, and creates nothing', async (_, args, says) => {
    const settings = { DATABASE_URL: `sqlite:${join(scratchFolder(), 'postroom.db')}` };
    const { status, stdout, stderr } = await run(['key', 'create', ...args], settings);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(says);
  });

  it('reports all problems of its options together', async () => {
    const { status, stderr } = await run([
      'key',
      'create',
      '--scopes',
      'fly',
      '--expires',
      'tomorrow',
      '--owner',
      '-x',
    ]);
    expect(status).toBe(1);
    expect(stderr.match(/--\w+ (is missing|must be)/g)).toEqual([
      '--name is missing',
      '--scopes must be',
      '--expires must be',
    ]);
  });
});
