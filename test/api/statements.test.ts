// Runs on SQLite and on PostgreSQL.
import { beforeAll, describe, expect, it } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { writeMembers, writePosts, writeRoom, writeUsers } from '../support/database/rows.ts';
import { shareServer } from '../support/server/shared-server.ts';
import { statementsDuring } from '../support/server/statements.ts';

const server = shareServer({ LOG_LEVEL: 'debug' });

let room: string;
beforeAll(() => {
  const file = server.databaseFile;
  const authors = writeUsers(
    file,
    Array.from({ length: 10 }, (_, index) => index),
  );
  const rooms = [writeRoom(file), writeRoom(file), writeRoom(file)];
  [room = ''] = rooms;
  writeMembers(file, room, [1, 2, 3]);
  for (const author of authors) for (const each of rooms) writePosts(file, { room: each, author, times: [1, 2, 3, 4] });
});

/** The SQL statements that an operation executes. */
async function statementsOf(query: string, variables: Record<string, unknown> = {}): Promise<string[]> {
  return statementsDuring(server.postroom, async () => {
    const { data, errors } = await server.postroom.send(query, variables);
    expect(errors).toBeUndefined();
    expect(data).not.toBeNull();
  });
}

/**
 * The different statements of an operation on a list. On a busy machine the execution yields within the list, and reads
 * the rows of the parts one after the other.
 */
async function kindsOf(query: string): Promise<Set<string>> {
  const statements = await statementsOf(query);
  const kinds = new Set(statements.map((sql) => sql.replaceAll(/\((?:[$?]\d*(?:, )?)+\)/g, '(…)')));
  // A statement for each row would be a hundred.
  expect(statements.length).toBeLessThan(kinds.size + 20);
  return kinds;
}

describe('SQL statements', () => {
  it('a page of 100 posts with author and room takes 3 statements', async () => {
    const query = '{ posts(limit: 100) { data { id title author { name } room { name } } } }';
    expect((await kindsOf(query)).size).toBe(3);
  });

  it('users with their last posts take 2 statements', async () => {
    const query = '{ users(limit: 100) { data { name posts(last: 3) { title publishedAt } } } }';
    expect((await kindsOf(query)).size).toBe(2);
  });

  it('users with their last posts, with author and room, take 4 statements', async () => {
    const query = '{ users { data { posts(last: 3) { author { name } room { name } } } } }';
    expect((await kindsOf(query)).size).toBe(4);
  });

  it('e-mails take one statement for all users that the viewer may see them of, and none if there are no such users', async () => {
    const query = '{ users(limit: 100) { data { name email } } viewer { email } }';
    expect((await kindsOf(query)).size).toBe(1);
    const ada = await server.postroom.signUp('Ada');
    const statements = await statementsDuring(server.postroom, async () => {
      expect((await server.postroom.ask(query, {}, ada.token)).viewer).toEqual({ email: ada.email });
    });
    expect(statements.filter((sql) => sql.startsWith('select "id", "email" from "users"'))).toHaveLength(1);
  });

  it('total and pages take one statement together, and none if they are not selected', async () => {
    // A total of posts first reads whether an account with many posts is being deleted.
    const counting = { users: 1, posts: 2, rooms: 1 };
    for (const [field, count] of Object.entries(counting)) {
      const costs = async (selected: string) => (await statementsOf(`{ ${field} { ${selected} } }`)).length;
      expect(await costs('data { id } pagination { page limit }')).toBe(1);
      expect(await costs('data { id } pagination { total }')).toBe(1 + count);
      expect(await costs('data { id } pagination { total pages }')).toBe(1 + count);
      expect(await costs('pagination { pages }')).toBe(count);
      expect(await costs('pagination { page limit }')).toBe(0);
    }
  });

  it('an object selected under many aliases is read once', async () => {
    const query = 'query ($id: ID!) { a: room(id: $id) { name } b: room(id: $id) { id } c: node(id: $id) { id } }';
    expect(await statementsOf(query, { id: room })).toHaveLength(1);
  });

  it('a connection takes one statement for its edges, and one for each flag that is selected', async () => {
    const costs = async (field: string, selected: string) => {
      const query = `query ($id: ID!) { room(id: $id) { ${field}(first: 2) { ${selected} } } }`;
      return (await statementsOf(query, { id: room })).length - 1;
    };
    for (const field of ['posts', 'members']) {
      expect(await costs(field, 'edges { cursor node { id } } nodes { id } pageInfo { startCursor endCursor }')).toBe(
        1,
      );
      expect(await costs(field, 'edges { cursor } pageInfo { hasNextPage }')).toBe(2);
      expect(await costs(field, 'edges { cursor } pageInfo { hasNextPage hasPreviousPage }')).toBe(3);
    }
  });

  it('a post that is delivered live takes no statements beyond those of its mutation', async () => {
    const { postroom } = server;
    const ada = await postroom.signUp('Ada');
    const lobby = await postroom.createRoom(ada, 'lobby');
    const socket = await ProtocolSocket.open(postroom.webSocketUrl);
    const unheard = await statementsDuring(server.postroom, () => postroom.createPost(ada, lobby, 'unheard'));
    const query = `subscription ($room: ID!) {
      roomEvents(room: $room) { cursor actor { name } ... on PostCreated { post { title author { id name } } } }
    }`;
    const { start, results } = socket.subscribe('1', query, { room: lobby });
    await start;
    const heard = await statementsDuring(server.postroom, async () => {
      await postroom.createPost(ada, lobby, 'heard');
      const { data } = await results.next();
      expect(data?.['roomEvents']).toMatchObject({ actor: { name: 'Ada' }, post: { title: 'heard' } });
    });
    expect(heard).toEqual(unheard);
  });
});
