// Runs on SQLite and on PostgreSQL.
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { scratchName } from '../support/rooms/names.ts';
import { anyText } from '../support/run/any-text.ts';
import type { Person } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

const server = shareServer();

let author: Person;
let room: string;
beforeAll(async () => {
  author = await server.postroom.signUp('Author');
  room = await server.postroom.createRoom(author, scratchName());
});

const createPost = 'mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id title body } } }';
const post = (title: string, body?: string) =>
  server.postroom.send(createPost, { input: { room, title, body } }, author.token);

/** For each field of one line: its maximum length, and a mutation that writes it. */
const lines = {
  'a name of a user': {
    length: 80,
    field: 'name',
    write: async (text: string) => {
      const query = 'mutation ($input: UpdateUserInput!) { updateUser(input: $input) { user { name } } }';
      const reply = await server.postroom.send(query, { input: { id: author.id, name: text } }, author.token);
      return { ...reply, text: reply.data?.updateUser?.user.name };
    },
  },
  'a name of a room': {
    length: 80,
    field: 'name',
    write: async (text: string) => {
      const query = 'mutation ($input: UpdateRoomInput!) { updateRoom(input: $input) { room { name } } }';
      const reply = await server.postroom.send(query, { input: { id: room, name: text } }, author.token);
      return { ...reply, text: reply.data?.updateRoom?.room.name };
    },
  },
  'a title': {
    length: 200,
    field: 'title',
    write: async (text: string) => {
      const reply = await post(text);
      return { ...reply, text: reply.data?.createPost?.post.title };
    },
  },
};

/** Texts that a name may not be, because they would look like another name, or like none. */
const lookalikes = [
  '\u202elobby',
  '\u2066lobby\u2069',
  'lobby\u200e',
  'lob\u200bby',
  'lob\u00adby',
  'lob\u2060by',
  'lob\u{e0001}by',
  'lob\u3164by',
];
const invisible = ['\u200d', '\u200c \u200c', '\ufe0f', '\u2800', '\ufeff'];

const unusual = [
  '😀',
  '👩‍👩‍👧‍👦',
  '🇩🇪',
  'é', // composed
  'e\u0301', // decomposed; only names are composed
  'שלום עולם',
  'ﷺ',
  'Z̸̡̛͚͎a͟l̷g͜o',
  'line\u2028and\u2029paragraph',
  '\ufffd\ufffe\uffff',
  '𝕬\u{10ffff}',
  '"; drop table posts; --',
  '<script>alert(1)</script>',
  '{"a":1}',
  '\\u0000',
  'null',
  '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}', // the flag of England
  '❤\ufe0f',
  'می\u200cخواهم',
];
const onlyInTitles = [
  '\u2028line',
  '\u200b',
  ' spaces around ',
  ...lookalikes,
  ...invisible.filter((text) => text.trim() !== ''),
];

describe.each(Object.entries(lines))('%s', (_, { length, field, write }) => {
  it('is returned as it was sent: emoji, right to left, joiners, all of Unicode', async () => {
    for (const text of [...unusual, ...(field === 'title' ? onlyInTitles : [])])
      expect((await write(text)).text, JSON.stringify(text)).toBe(field === 'name' ? text.normalize('NFC') : text);
  });

  it('must be well formed, with a visible character and no control character', async () => {
    const text = anyText({ minLength: 1, maxLength: length });
    await fc.assert(
      fc.asyncProperty(text, async (value) => {
        const reply = await write(value);
        // The texts that are refused only as names have tests of their own.
        if (field === 'name' && /\p{Default_Ignorable_Code_Point}|\u2800/u.test(value)) return;
        const isRefused = /\p{Cc}/u.test(value) || value.trim() === '' || !value.isWellFormed();
        if (isRefused) expect(reply).toMatchObject({ status: 422, code: 'VALIDATION_ERROR', text: undefined });
        else
          expect(reply).toMatchObject({ status: 200, text: field === 'name' ? value.trim().normalize('NFC') : value });
      }),
      { numRuns: 60 },
    );
  });

  it(`has 1 to ${length} code points, whatever its length in bytes`, async () => {
    for (const unit of ['x', '😀', '\u0301']) {
      expect((await write(unit.repeat(length))).text).toBe(unit.repeat(length));
      const reply = await write(unit.repeat(length + 1));
      expect(reply).toMatchObject({ status: 422, code: 'VALIDATION_ERROR', text: undefined });
      expect(reply.errors?.[0]?.extensions.details).toEqual([{ field, issue: 'too_long' }]);
    }
  });

  it.each(['', ' ', '\u00a0\u3000', '\u2028'])('without a visible character, as %j, is too_short', async (text) => {
    const reply = await write(text);
    expect(reply).toMatchObject({ status: 422, code: 'VALIDATION_ERROR' });
    expect(reply.errors?.[0]?.extensions.details).toEqual([{ field, issue: 'too_short' }]);
  });

  it('with a control character or a lone surrogate is invalid', async () => {
    const refused = [
      '\0',
      '\t',
      '\n',
      '\r',
      '\u001b[31m',
      '\u007f',
      '\u0085',
      '\u009f',
      '\ud800',
      '\udc00',
      '\udc00\ud800',
    ];
    for (const bad of refused) {
      const reply = await write(`a${bad}b`);
      expect(reply, JSON.stringify(bad)).toMatchObject({ status: 422, code: 'VALIDATION_ERROR', text: undefined });
      expect(reply.errors?.[0]?.extensions.details).toEqual([{ field, issue: 'invalid' }]);
    }
  });
});

describe('a name', () => {
  const spaced = (name: string) => ` \u00a0${name}\u3000\ufeff`;

  it('that would look like another one, or like none, is refused', async () => {
    const { write } = lines['a name of a room'];
    for (const text of lookalikes) {
      const reply = await write(text);
      expect(reply.errors?.[0]?.extensions.details, JSON.stringify(text)).toEqual([
        { field: 'name', issue: 'invalid' },
      ]);
    }
    for (const text of [...invisible, '\u200b', '\u202e\u202c']) {
      const reply = await write(text);
      expect(reply.errors?.[0]?.extensions.details, JSON.stringify(text)).toContainEqual({
        field: 'name',
        issue: 'too_short',
      });
    }
  });

  it('is stored without white space at its ends, which does not count as characters', async () => {
    const { postroom } = server;
    const name = (start: string) => start.padEnd(80, 'x');
    const ask = async (mutation: string, input: object) => {
      const type = `${mutation[0]?.toUpperCase()}${mutation.slice(1)}Input`;
      const payload = /ApiKey/.test(mutation)
        ? 'apiKey { name user { name } }'
        : /Room/.test(mutation)
          ? 'room { name }'
          : 'user { name }';
      const query = `mutation ($input: ${type}!) { ${mutation}(input: $input) { ${payload} } }`;
      return (await postroom.ask(query, { input }, author.token))[mutation];
    };
    const email = 'spaced@example.org';
    expect(await ask('signUp', { name: spaced(name('Ada')), email, password: 'correct horse' })).toEqual({
      user: { name: name('Ada') },
    });
    for (const mutation of ['updateUser', 'replaceUser'])
      expect(await ask(mutation, { id: author.id, name: spaced(name(mutation)), email: author.email })).toEqual({
        user: { name: name(mutation) },
      });
    expect(await ask('createRoom', { name: spaced(name('lobby')) })).toEqual({ room: { name: name('lobby') } });
    for (const mutation of ['updateRoom', 'replaceRoom'])
      expect(await ask(mutation, { id: room, visibility: 'PUBLIC', name: spaced(name(mutation)) })).toEqual({
        room: { name: name(mutation) },
      });
    expect(await ask('createApiKey', { name: spaced(name('app')), scopes: ['READ'] })).toEqual({
      apiKey: { name: name('app'), user: { name: name('app') } },
    });
    const taken = 'mutation ($name: String!) { createRoom(input: { name: $name }) { room { id } } }';
    expect(await postroom.send(taken, { name: `${name('lobby')} ` }, author.token)).toMatchObject({
      status: 409,
      code: 'CONFLICT',
    });
  });
});

it('names that differ only in the form of an accented letter are one name', async () => {
  const { postroom } = server;
  const [composed, decomposed] = ['Caf\u00e9', 'Cafe\u0301'];
  const create = 'mutation ($name: String!) { createRoom(input: { name: $name }) { room { id name } } }';
  const { room } = (await postroom.ask(create, { name: decomposed }, author.token)).createRoom;
  expect(room.name).toBe(composed);
  expect(await postroom.send(create, { name: composed }, author.token)).toMatchObject({
    status: 409,
    code: 'CONFLICT',
  });
  const find = `query ($name: String!) { roomByName(name: $name) { id } rooms(filter: { name: $name }) { data { id } } }`;
  for (const name of [composed, decomposed])
    expect(await postroom.ask(find, { name })).toEqual({
      roomByName: { id: room.id },
      rooms: { data: [{ id: room.id }] },
    });
});

describe('an e-mail address', () => {
  const password = 'correct horse';
  const signUp = 'mutation ($input: SignUpInput!) { signUp(input: $input) { expiresAt } }';
  const signIn = 'mutation ($input: SignInInput!) { signIn(input: $input) { user { name } } }';

  it('has no character that is not seen', async () => {
    for (const character of ['\u200b', '\u2800', '\u00ad', '\u3164', '\u180e', '\u202e', '\u200d', '\u0000', '\u0085'])
      for (const email of [`a${character}da@example.org`, `ada@exam${character}ple.org`]) {
        const reply = await server.postroom.send(signUp, { input: { name: 'Ada', email, password } });
        expect(reply.errors?.[0]?.extensions.details, JSON.stringify(email)).toEqual([
          { field: 'email', issue: 'invalid' },
        ]);
      }
  });

  it('is the same in each form of an accented letter', async () => {
    const forms = ['ren\u00e9@example.org', 'rene\u0301@example.org'];
    const attempt = (email: string) => server.postroom.send(signUp, { input: { name: 'Ren\u00e9', email, password } });
    expect((await attempt(forms[1] ?? '')).status).toBe(200);
    for (const email of forms) {
      expect(await attempt(email)).toMatchObject({ status: 409, code: 'CONFLICT' });
      const { data } = await server.postroom.send(signIn, { input: { email, password } });
      expect(data).toEqual({ signIn: { user: { name: 'Ren\u00e9' } } });
    }
  });

  it('that a client only tries may have any length', async () => {
    const input = { email: `${'a\u0301\u0323'.repeat(100_000)}@example.org`, password };
    expect((await server.postroom.send(signIn, { input })).status).toBe(401);
  });
});

it('the name of an API key is refused like that of a user', async () => {
  const create = 'mutation ($name: String!) { createApiKey(input: { name: $name, scopes: [READ] }) { key } }';
  for (const name of [...lookalikes, ...invisible])
    expect((await server.postroom.send(create, { name }, author.token)).code, JSON.stringify(name)).toBe(
      'VALIDATION_ERROR',
    );
});

describe('a body', () => {
  it('is returned as it was sent, control characters included', async () => {
    const bodies = [...unusual, ...onlyInTitles, '', ' ', 'a\r\n\tb\u0001\u001b\u007f\u0085', '\n'.repeat(1_000)];
    for (const body of bodies) {
      const { data } = await post('title', body);
      expect(data.createPost.post.body, JSON.stringify(body.slice(0, 40))).toBe(body);
      const read = await server.postroom.ask('query ($id: ID!) { post(id: $id) { body } }', {
        id: data.createPost.post.id,
      });
      expect(read.post.body).toBe(body);
    }
  });

  it('has up to 20,000 code points', async () => {
    for (const unit of ['x', '😀']) {
      const { data } = await post('title', unit.repeat(20_000));
      expect(data.createPost.post.body).toBe(unit.repeat(20_000));
      const reply = await post('title', unit.repeat(20_001));
      expect(reply).toMatchObject({ status: 422, code: 'VALIDATION_ERROR', data: { createPost: null } });
      expect(reply.errors?.[0]?.extensions.details).toEqual([{ field: 'body', issue: 'too_long' }]);
    }
  });

  it('with NUL or a lone surrogate is invalid', async () => {
    for (const bad of ['\0', 'a\0b', '\ud800', '\udfff', '😀'.slice(0, 1)]) {
      const reply = await post('title', bad);
      expect(reply, JSON.stringify(bad)).toMatchObject({
        status: 422,
        code: 'VALIDATION_ERROR',
        data: { createPost: null },
      });
      expect(reply.errors?.[0]?.extensions.details).toEqual([{ field: 'body', issue: 'invalid' }]);
    }
  });
});

describe('text written into the document itself', () => {
  it('is read with its escapes, also in a block string', async () => {
    const send = (body: string) =>
      server.postroom.send(
        `mutation { createPost(input: { room: "${room}", title: "t", body: ${body} }) { post { body } } }`,
        {},
        author.token,
      );
    expect((await send(String.raw`"\u00e9 \u{1F600} \uD83D\uDE00 \n \" \\"`)).data.createPost.post.body).toBe(
      'é 😀 😀 \n " \\',
    );
    expect((await send('"""\n  one\n    two\n"""')).data.createPost.post.body).toBe('one\n  two');
    for (const loneOrNul of [String.raw`"\u0000"`]) {
      expect(await send(loneOrNul)).toMatchObject({ status: 422, code: 'VALIDATION_ERROR' });
    }
    // A lone surrogate is a syntax error in GraphQL.
    expect(await send(String.raw`"\uD83D"`)).toMatchObject({ status: 400, code: 'GRAPHQL_PARSE_FAILED' });
  });
});
