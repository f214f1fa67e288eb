import { expect, it } from 'vitest';
import { recommendedCost } from '../../src/identity/session/passwords.ts';
import { RawConnection } from '../support/clients/http.ts';
import { launchForTest, type Person } from '../support/server/postroom.ts';
import { shareServer, withDatabase, withDatabaseLocked } from '../support/server/shared-server.ts';

/* A 503 means that no change was stored, and none will be stored later. */

const settings = {
  // Shorter than hashing the 150 passwords of a test below.
  OPERATION_TIMEOUT_MS: '1500',
  LOG_LEVEL: 'debug',
  LIMIT_ALIASES: '200',
  LIMIT_TOKENS: '10000',
  LIMIT_COST: '1000000',
};
const server = shareServer(settings, { passwordCost: recommendedCost });
const createPost = 'mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id } } }';

function countPosts(title: string): number {
  return withDatabase(server.databaseFile, (database) => {
    const row = database.prepare('select count(*) as count from posts where title = ?').get(title);
    return Number(row?.['count']);
  });
}

/** By another server of the database, because to hash a password may take longer than operations may take here. */
async function makeRoom(): Promise<{ ada: Person; room: string }> {
  const other = await launchForTest({ DATABASE_URL: `sqlite:${server.databaseFile}` });
  const ada = await other.signUp('Ada');
  return { ada, room: await other.createRoom(ada, `room of ${ada.id}`) };
}

function countBegins(): number {
  return server.postroom.log.filter(({ sql }) => sql === 'begin immediate').length;
}

it('a write that was answered with 503 because the database was locked is not stored later', async () => {
  const { postroom, databaseFile } = server;
  const { ada, room } = await makeRoom();
  const write = (title: string) => postroom.send(createPost, { input: { room, title } }, ada.token);
  const answers = await withDatabaseLocked(databaseFile, () =>
    Promise.all(Array.from({ length: 20 }, () => write('while locked'))),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
  expect(answers[0]).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  expect(answers[0]?.headers.get('retry-after')).toBe('1');
  // This write runs after all writes that waited for the lock.
  expect((await write('afterwards')).status).toBe(200);
  expect(countPosts('while locked')).toBe(0);
  expect(countPosts('afterwards')).toBe(1);
});

it('a mutation whose client disconnects while it is queued does not run', async () => {
  const { postroom, databaseFile } = server;
  const { ada, room } = await makeRoom();
  const body = JSON.stringify({ query: createPost, variables: { input: { room, title: 'of one who left' } } });
  await withDatabaseLocked(databaseFile, async () => {
    const begun = countBegins();
    const connection = await RawConnection.open(postroom);
    connection.send(
      `POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer ${ada.token}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await expect.poll(countBegins, { interval: 5 }).toBeGreaterThan(begun);
    connection.leave();
    await connection.closed();
    // When these requests are answered, the server has processed the close of the other connection.
    for (let index = 0; index < 3; index += 1) await postroom.ask('{ __typename }');
  });
  await postroom.createPost(ada, room, 'of one who stayed');
  expect(countPosts('of one who left')).toBe(0);
  expect(countPosts('of one who stayed')).toBe(1);
});

it('an operation that times out after one of its mutations was committed is a partial success, not a 503', async () => {
  const { postroom } = server;
  const { ada, room } = await makeRoom();
  const signUps = Array.from(
    { length: 150 },
    (_, n) =>
      `n${n}: signUp(input: { name: "late", email: "late${n}@example.org", password: "correct horse" }) { expiresAt }`,
  );
  const mutation = `mutation ($input: CreatePostInput!) { a: createPost(input: $input) { post { id } } ${signUps.join(' ')} }`;
  const answer = await postroom.send(mutation, { input: { room, title: 'kept' } }, ada.token);
  expect(answer.status).toBe(294);
  expect(answer.headers.get('retry-after')).toBeNull();
  // Each mutation that was not executed has an error of its own; the others have their payloads.
  const refused = answer.errors?.map(({ path }) => path) ?? [];
  expect(new Set(answer.errors?.map(({ extensions }) => extensions.code))).toEqual(new Set(['SERVICE_UNAVAILABLE']));
  const results = Object.entries(answer.data ?? {});
  expect(results[0]).toEqual(['a', { post: { id: expect.any(String) } }]);
  expect(results.filter(([, payload]) => payload === null).map(([field]) => [field])).toEqual(refused);
  expect(countPosts('kept')).toBe(1);
  const stored = (await postroom.ask('{ users(filter: { name: "late" }, limit: 100) { pagination { total } } }')).users;
  expect(refused[0]).toEqual([`n${stored.pagination.total}`]);
  expect(refused).toHaveLength(signUps.length - stored.pagination.total);
});

it('a request with an API key does not wait for the update of the time at which the key was last used', async () => {
  const { postroom, databaseFile } = server;
  const { ada } = await makeRoom();
  const create = 'mutation { createApiKey(input: { name: "app", scopes: [READ] }) { key } }';
  const { key } = (await postroom.ask(create, {}, ada.token)).createApiKey;
  const response = await withDatabaseLocked(databaseFile, () =>
    fetch(postroom.graphqlUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `ApiKey ${key}` },
      body: JSON.stringify({ query: '{ viewer { name } }' }),
    }),
  );
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ data: { viewer: { name: 'app' } } });
});
