import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumNote, Graphiql, hasChromium, launchBrowser, newVisitor } from '../../support/clients/browser.ts';
import { launchForTest, type Person, type Postroom, scratchFolder } from '../../support/server/postroom.ts';

describe.skipIf(!hasChromium)(`the tabs of GraphiQL for rooms${chromiumNote}`, () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await launchBrowser();
  });

  afterAll(() => browser?.close());

  /** Opens GraphiQL, and signs in. */
  async function open({ graphqlUrl }: Postroom, { email, password }: Person): Promise<Graphiql> {
    const graphiql = await Graphiql.open(await newVisitor(browser), graphqlUrl);
    await graphiql.choose('SignUp');
    await graphiql.write('variables', JSON.stringify({ credentials: { email, password } }));
    await graphiql.play('SignIn');
    await graphiql.shows({ data: { signIn: { accessToken: expect.any(String) } } });
    return graphiql;
  }

  async function launch(settings = {}) {
    const postroom = await launchForTest(settings);
    const [ada, ben] = [await postroom.signUp('Ada'), await postroom.signUp('Ben')];
    const room = await postroom.createRoom(ada, 'hall');
    await postroom.ask(
      'mutation ($room: ID!) { joinRoom(input: { room: $room }) { room { id } } }',
      { room },
      ben.token,
    );
    return { postroom, ada, ben, room };
  }

  /** Selects a tab of two operations, or of one that needs variables, and starts one. */
  async function run(graphiql: Graphiql, tab: string, variables: object, operation?: string): Promise<void> {
    await graphiql.choose(tab);
    await graphiql.write('variables', JSON.stringify(variables));
    await graphiql.play(operation);
  }

  it('Inbox continues at the side while MyRooms shows unread posts, and MarkRead marks them as read', async () => {
    const { postroom, ada, ben, room } = await launch();
    const graphiql = await open(postroom, ben);
    await graphiql.choose('Inbox');
    await graphiql.play();
    await graphiql.live();
    await postroom.createPost(ada, room, 'Hello');
    await graphiql.shows({ data: { inbox: { __typename: 'PostCreated', post: { title: 'Hello' } } } });
    await run(graphiql, 'MyRooms', { mark: { room } }, 'MyRooms');
    await graphiql.shows({ data: { viewer: { rooms: { nodes: [{ id: room, name: 'hall', unread: 1 }] } } } });
    await graphiql.play('MarkRead');
    await graphiql.shows({ data: { markRead: { room: { name: 'hall', unread: 0 } } } });
    await graphiql.showsLive({ inbox: { __typename: 'RoomRead', room: { id: room }, actor: { name: 'Ben' } } });
    expect((await graphiql.tabs()).includes('MyRooms')).toBe(true);
    expect(graphiql.faults).toEqual([]);
  });

  it('the side names its subscription, and the one that it stopped', async () => {
    const { postroom, ada, ben, room } = await launch();
    const graphiql = await open(postroom, ben);
    await graphiql.choose('Inbox');
    await graphiql.play();
    await graphiql.live();
    await run(graphiql, 'WhoIsHere', { room });
    await graphiql.shows({ data: { roomPresence: { count: 1 } } });
    await graphiql.showsAtSide('Inbox: waiting for events.');
    await graphiql.choose('CreatePost');
    await graphiql.showsAtSide(
      'WhoIsHere: waiting for events. Inbox was stopped: only one subscription continues here.',
    );
    await postroom.ask(
      'mutation ($input: SetTypingInput!) { setTyping(input: $input) { room { id } } }',
      { input: { room, typing: true } },
      ada.token,
    );
    await graphiql.showsLive({ roomPresence: { typing: [{ name: 'Ada' }] } });
    await graphiql.showsAtSide('WhoIsHere: live. Inbox was stopped: only one subscription continues here.');
    expect(graphiql.faults).toEqual([]);
  });

  it('Inbox shows every event once, including the events during a restart of the server', async () => {
    const settings = { DATABASE_URL: `sqlite:${join(scratchFolder(), 'postroom.db')}` };
    const { postroom, ada, ben, room } = await launch(settings);
    const attic = await postroom.createRoom(ben, 'attic');
    const graphiql = await open(postroom, ben);
    await graphiql.choose('Inbox');
    await graphiql.play();
    await graphiql.live();
    await postroom.createPost(ada, room, 'one');
    await graphiql.shows({ data: { inbox: { post: { title: 'one' } } } });
    await postroom.stop();
    await expect.poll(() => graphiql.refused).toBeGreaterThan(0);
    const restarted = await launchForTest({ ...settings, PORT: new URL(postroom.url).port });
    await restarted.createPost(ada, attic, 'two');
    await graphiql.shows({ data: { inbox: { post: { title: 'two' } } } });
    await restarted.createPost(ada, room, 'three');
    await graphiql.shows({ data: { inbox: { post: { title: 'three' } } } });
    const events = graphiql.received.map((frame) => JSON.parse(frame)).filter(({ type }) => type === 'next');
    expect(events.map(({ payload }) => payload.data.inbox.post.title)).toEqual(['one', 'two', 'three']);
  });

  it('WhoIsHere shows who is present, and SetTyping who is typing', async () => {
    const { postroom, ada, ben, room } = await launch();
    const [first, second] = [await open(postroom, ada), await open(postroom, ben)];
    await run(first, 'WhoIsHere', { room });
    await first.shows({ data: { roomPresence: { count: 1, users: [{ name: 'Ada' }], typing: [] } } });
    await run(second, 'WhoIsHere', { room });
    const users = [{ name: 'Ada' }, { name: 'Ben' }];
    await second.shows({ data: { roomPresence: { count: 2, users } } });
    await run(second, 'SetTyping', { input: { room, typing: true } });
    await second.shows({ data: { setTyping: { room: { name: 'hall' } } } });
    await first.shows({ data: { roomPresence: { count: 2, users, typing: [{ name: 'Ben' }] } } });
    await second.press('Close');
    await first.shows({ data: { roomPresence: { count: 1, users: [{ name: 'Ada' }] } } });
    expect([...first.faults, ...second.faults]).toEqual([]);
  });
});
